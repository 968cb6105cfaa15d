"""The layout: twelve chapters under three floors, downward imports, and no paper imported by name."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
from modules import FLOORS, ROOT, imports, modules

from fedtheory.language import quantities as q
from fedtheory.language.paper_parts import import_modules, import_package_modules

PAGE = ROOT / "docs/explanation/structure.md"
FREE = {"errors", "plain_names", "process", "shown", "workers"}
"""Modules that every chapter may import."""
ABOVE = {"api", "cli"}
"""The chapters that may import all floors: the commands as functions, and the command line."""


def _chapter(module: str) -> str | None:
    floor, _, rest = module.partition(".")
    return rest.split(".")[0] if floor == "fedtheory" and rest else None


def chapters() -> list[str]:
    """List the chapters in the order of the page's table, from the top."""
    _, table = PAGE.read_text(encoding="utf-8").split("| subpackage of `fedtheory/` |")
    return re.findall(r"^\| `(\w+)/` \|", table, re.M)


def _use(chapter: str) -> set[str]:
    names = [name for name in modules() if _chapter(name) == chapter]
    used = {_chapter(found) for name in names for found in imports(name, hints=True)}
    return {found for found in used if found is not None} - {chapter, *FREE}


def test_the_picture_has_every_chapter() -> None:
    folders = {path.parent.name for path in (ROOT / "fedtheory").glob("*/__init__.py")}
    assert sorted(chapters()) == sorted(folders)
    names = {path.stem for path in (ROOT / "fedtheory").iterdir() if path.suffix in ("", ".py")}
    assert len(names - {"__init__", "__main__", "__pycache__"}) <= 17


@pytest.mark.parametrize("chapter", chapters())
def test_a_chapter_uses_what_it_says(chapter: str) -> None:
    """The docstring of a chapter names its imported chapters, all lower ones; type hints count."""
    doc = importlib.import_module(f"fedtheory.{chapter}").__doc__ or ""
    said = re.search(r"^Uses ([^.]*)\.$", doc, re.M)
    assert said, f"the docstring of {chapter} does not say what it uses"
    assert set(re.findall(r"`(\w+)`", said[1])) == _use(chapter)
    assert _use(chapter) <= set(chapters()[chapters().index(chapter) + 1 :])


NOTATION = {"admitted", "expressions", "forms", "notation", "numbers", "quadratic_forms", "quotients", "signs"}
"""Modules of the kernel that process SymPy expressions; the others use symbols, numbers and forms only."""


def test_modules_of_the_kernel_that_read_notation() -> None:
    kernel = {name.split(".")[-1]: path for name, path in modules().items() if name.startswith("fedtheory.kernel.")}
    assert {name for name, path in kernel.items() if "import sympy" in path.read_text(encoding="utf-8")} == NOTATION


FACADES = {"fedtheory", "fedtheory.kernel"}
"""Packages whose type hints declare names that are imported on first use."""


def test_no_circle() -> None:
    """No module imports itself through others; type hints count."""
    used = {name: imports(name, hints=name not in FACADES) & modules().keys() for name in modules()}
    TopologicalSorter(used).prepare()


@pytest.mark.parametrize("number", range(len(FLOORS)), ids=FLOORS)
def test_floors_do_not_look_up(number: int) -> None:
    """The report imports verify, and verify the core, but not conversely; the commands import all."""
    above = set(FLOORS[:number])
    for name in modules():
        if name.split(".")[0] == FLOORS[number] and _chapter(name) not in ABOVE:
            assert not {found.partition(".")[0] for found in imports(name, hints=True)} & above, name


def test_papers_are_not_imported_by_name() -> None:
    """Contents of papers are discovered, so that no module imports a paper by name."""
    outside = [name for name in modules() if _chapter(name) != "sources"]
    named = {name: {f for f in imports(name, hints=True) if f.startswith("fedtheory.sources.")} for name in outside}
    assert not {name: found for name, found in named.items() if found}


@pytest.mark.parametrize("name", sorted(name for name in modules() if _chapter(name) == "sources"))
def test_symbols_hide_no_other_import(name: str) -> None:
    """A star import of a paper's symbols does not overwrite other imported names."""
    module = importlib.import_module(name)
    for node in ast.parse(modules()[name].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            home = importlib.import_module(node.module)
            named = [alias for alias in node.names if hasattr(home, alias.name)]
            assert all(getattr(module, alias.asname or alias.name) is getattr(home, alias.name) for alias in named)


@pytest.mark.parametrize("paper", sorted(p.parent.name for p in (ROOT / "fedtheory/sources").glob("*/__init__.py")))
def test_a_paper_knows_no_other_paper(paper: str) -> None:
    home = f"fedtheory.sources.{paper}"
    for name in modules():
        if name == home or name.startswith(f"{home}."):
            papers = {
                ".".join(found.split(".")[:3]) for found in imports(name, hints=True) if _chapter(found) == "sources"
            }
            assert papers <= {home}, name


STILL_NAMED = {"fedtheory.planner.coverage"}
"""Modules that name quantities of a paper; none may be added."""


def test_the_core_names_no_quantity_of_one_paper() -> None:
    """Outside of a paper no module of the core names its quantities."""
    own = {name for module in import_modules("quantities") for name in vars(module) if name in q.__all__}
    own -= {name for module in import_package_modules(q) for name in vars(module)}
    naming = set()
    for name in modules():
        if name.startswith("fedtheory.") and _chapter(name) != "sources":
            nodes = ast.walk(ast.parse(modules()[name].read_text(encoding="utf-8")))
            names = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
            used = {node.attr for node in names if ast.unparse(node.value) in ("q", "quantities")}
            naming |= {name} if used & own else set()
    assert naming == STILL_NAMED


def test_the_vocabulary_needs_no_statement_of_a_paper() -> None:
    """Quantities, signs, contexts and instances of papers are imported without their claims."""
    code = "import sys, fedtheory.proofs, verify.instances; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    loaded = {name for name in found.stdout.split() if name.startswith("fedtheory.sources.")}
    assert loaded
    assert not [name for name in loaded if name.endswith((".source", ".statements"))]
