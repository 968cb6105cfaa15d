"""Configuration of the documentation: Sphinx, notebooks that run during the build, and a reference made from code."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["COLUMNS"] = "96"

from generated import write_reference  # noqa: E402

write_reference(HERE / "reference")

project, author = "fedtheory", "the fedtheory authors"
project_copyright = "2026, the fedtheory authors"
release = version_of("fedtheory")
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx-mathjax-offline"]
exclude_patterns = ["**/.ipynb_checkpoints"]
default_role = "code"

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "notebooks")
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "description"
add_module_names = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"fedtheory {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["schemas", "certificate.schema.json", "proof-term.schema.json"]
html_copy_source = False


def _escape_norm_bars(_app: object, _what: str, _name: str, _obj: object, _options: object, lines: list[str]) -> None:
    """Escape the bars of norms |x|, which reStructuredText would read as substitutions."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app: object) -> None:
    """Called by Sphinx; the output of notebooks has formulas that Sphinx does not see."""
    app.set_html_assets_policy("always")  # type: ignore[attr-defined]
    app.connect("autodoc-process-docstring", _escape_norm_bars)  # type: ignore[attr-defined]
