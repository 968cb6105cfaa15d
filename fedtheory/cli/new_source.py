"""`fedtheory new-source`: write a template for the folder of a paper."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Annotated

import typer

from fedtheory.cli.output import Json, print_json, print_lines
from fedtheory.errors import InputError

NAME = "new-source"

Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="The new folder; its name becomes the key of the ids.")]

_SOURCE = '''\
"""$key: a paper, statement by statement."""

from fedtheory import Source

from .statements import CLAIMS

SOURCE = Source(key="$key", title="Title of the paper", authors="A. Author", year=$year, claims=CLAIMS)
'''

_STATEMENTS = '''\
"""The statements in the order of the pages; a repair stands right behind the statement that it corrects."""

import sympy as sp

from fedtheory import Claim, norm_sq
from fedtheory import quantities as q

x, y = sp.symbols("x y", real=True)
POINTS = {x: q.point, y: q.second_point}

CLAIMS = (
    *Claim(
        id="$key:lemma-1",
        kind="inequality",
        title="The square of a sum",
        locator="Lemma 1",
        lhs=norm_sq(x + y),
        rhs=norm_sq(x) + norm_sq(y),
        where=POINTS,
        place="points",
        note="As printed; the inner product of the two is lost, and it may be positive.",
        verdict="refuted",
    ).with_repair(rhs=2 * norm_sq(x) + 2 * norm_sq(y), verdict="proved"),
)
'''

_CERTIFICATES = '''\
"""Proofs: right side minus left side is a sum of terms that are not negative, each for a named reason."""

import sympy as sp

from fedtheory.kernel import Term, square
from fedtheory.proofs import Certificate

from .statements import x, y

CERTIFICATES = [
    Certificate(claim="$key:lemma-1.fixed", links=[[Term(sp.S.One, square(x - y))]]),
]
'''

_COUNTEREXAMPLE = """[problem]
kind = "quadratic"
hessians = [[["1"]]]
linear = [["0"]]
start = ["1"]

[algorithm]
local_step_size = "1/2"
local_steps = 1
rounds = 1
"""

_README = """# $key

A paper whose statements fedtheory checks.

- `__init__.py`: the `SOURCE`, which is the paper's key, title, authors, year and claims.
- `statements.py`: what is printed, with a repair behind each statement that is false.
- `certificates.py`: proofs, for the kernel.
- `counterexamples/`: a run file for each refuted statement, named like it.

From the folder above:

    fedtheory claims $folder/             # what is encoded
    fedtheory verify $folder/             # every statement on exact runs
    fedtheory prove $folder/              # the certificates
    fedtheory prove $folder/ --search     # search for missing ones, and write them into found/
    fedtheory errata $folder/             # what is false, and what is true instead
    fedtheory report $folder/ -o pages    # all of it as pages

`fedtheory quantities` lists what symbols can stand for. Inside the folder imports are relative.
To install the paper with a package, name the folder as an entry point of the group `fedtheory.sources`.
"""

_FILES = {
    "__init__.py": _SOURCE,
    "statements.py": _STATEMENTS,
    "certificates.py": _CERTIFICATES,
    "counterexamples/lemma-1.toml": _COUNTEREXAMPLE,
    "README.md": _README,
}


def run(folder: Folder, as_json: Json = False) -> None:
    """Write the folder of a new paper: a false statement, its correction, a certificate, a counterexample, a README."""
    files = _write(Path(folder))
    if as_json:
        print_json({"files": [str(file) for file in files]})
    else:
        print_lines(f"wrote {len(files)} files; next: `fedtheory verify {folder.rstrip('/')}/`")


def _write(folder: Path) -> list[Path]:
    from datetime import UTC, datetime

    from fedtheory.language.folder import require_key
    from fedtheory.language.registry import papers

    key = folder.resolve().name
    require_key(key, "FOLDER")
    if key in papers():
        raise InputError("FOLDER", f"there is a paper with the key {key!r} already; expected another name")
    if folder.exists():
        raise InputError("FOLDER", f"expected a folder that is not there yet, got {folder}")
    words = {"key": key, "folder": folder.name, "year": datetime.now(UTC).year}
    written = []
    for name, text in _FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(Template(text).substitute(words), encoding="utf-8")
        written.append(file)
    return written
