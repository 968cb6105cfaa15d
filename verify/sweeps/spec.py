"""The file of a sweep (TOML): a base run, claims, a grid and random draws over keys of the run file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from fedtheory.arithmetic import FLOAT, Arithmetic, select_arithmetic
from fedtheory.errors import InputError
from fedtheory.federation.problem.datasets import FILES
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find_paper
from fedtheory.language.targets import display_name, expand, resolve
from fedtheory.language.vocabulary import vocabulary
from fedtheory.runfile import parse_run, read_toml
from fedtheory.runfile.table import TomlTable
from verify.check.links import compile_conditions, compile_relations
from verify.sweeps.sweep_design import Design, read_design


@dataclass(frozen=True)
class Stated:
    """A claim of a sweep as text, for readers who do not have the file of the claim."""

    name: str
    title: str
    statement: Sequence[str]
    """LaTeX of its relations."""


@dataclass(frozen=True)
class Spec:
    """A validated sweep: its runs can be parsed and its claims evaluated."""

    design: Design
    targets: Mapping[str, str]
    """Targets for `resolve`, by the claims' names in the table of results."""
    arithmetic: str
    folder: Path
    """Folder of the data files."""
    described: Mapping[str, Any]
    """The sweep for the table of results: base run, grid, draws, arithmetic, claims as text, errors."""
    digest: str
    """Digest of all inputs of the results: the description, and the files of claims and data."""
    errors: tuple[str, ...] = ()
    """Quantities of a run whose exact values are recorded."""


def read_spec(file: str | Path) -> Spec:
    """Read the sweep of a TOML file; raises `InputError` with the file, the key and the expected value."""
    content = read_toml(file)
    folder = Path(file).resolve().parent
    try:
        document = TomlTable(content, "", FLOAT)
        base, base_file = _read_base(document, folder)
        arithmetic = select_arithmetic(document.text("arithmetic", FLOAT.name))
        errors = _read_errors(document.take("errors", []))
        targets = _resolve_claims(
            document.take("claims", []) if errors else document.take("claims"), folder, bool(errors)
        )
        grid, random = document.take("grid", {}), document.take("random", {})
        document.finish()
        design = read_design(base, grid, random)
    except InputError as error:
        raise error.in_file(str(file)) from None
    data = folder if base_file is None else base_file.parent
    _probe(design, arithmetic, data, str(file), str(file if base_file is None else base_file))
    claims = [(name, resolve(target)) for name, target in targets.items()]
    described = {
        "base": base,
        "grid": grid,
        "random": random,
        "arithmetic": arithmetic.name,
        "claims": [asdict(Stated(name, claim.title, claim.links)) for name, claim in claims],
        "errors": errors,
    }
    digest = _digest(described, design, targets, data)
    return Spec(design, targets, arithmetic.name, data, described, digest, tuple(errors))


def _read_base(document: TomlTable, folder: Path) -> tuple[dict[str, Any], Path | None]:
    """Return the tables of the base run, and its file if it is a separate one."""
    if not document.has("run"):
        return {name: document.take(name) for name in ("problem", "algorithm")}, None
    for name in ("problem", "algorithm"):
        if document.has(name):
            raise InputError(name, "expected either run or the tables problem and algorithm, got both")
    path = folder / document.text("run")
    return read_toml(path), path


def _read_errors(given: object) -> list[str]:
    """Return the names of quantities of a whole run."""
    known = {entry.quantity.name: entry.quantity for entry in vocabulary()}
    names: list[Any] = given if isinstance(given, list) else [given]
    for n, name in enumerate(names):
        quantity = known.get(name) if isinstance(name, str) else None
        if not isinstance(quantity, RunQuantity) or quantity.place != "run":
            near = get_close_matches(str(name), known, n=1)
            hint = f"; is {near[0]} meant?" if near else "; `fedtheory quantities` lists them"
            raise InputError(f"errors[{n}]", f"expected a quantity of a whole run, got {name!r}{hint}")
    return names


def _resolve_claims(given: object, folder: Path, may_be_none: bool) -> dict[str, str]:
    """Resolve ids, patterns such as ``liu2022:thm-*``, keys of sources, and ``file.py:NAME`` beside the sweep."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not (names or may_be_none) or not all(isinstance(name, str) for name in names):
        raise InputError("claims", f"expected a list of claims' ids, patterns or sources, got {given!r}")
    found: dict[str, str] = {}
    for n, name in enumerate(names):
        try:
            found |= dict(_resolve_targets(name, folder))
        except InputError as error:
            raise error if error.file else InputError(f"claims[{n}]", error.message) from None
    return found


def _resolve_targets(name: str, folder: Path) -> Iterator[tuple[str, str]]:
    targets = {target: resolve(target) for target in expand([_resolve_name(name, folder)])}
    if len(targets) == 1:
        [(target, claim)] = targets.items()
        _require_evaluable(claim)
        yield name if ".py" in name else display_name(target, claim), target
        return
    evaluable = [(display_name(target, claim), target) for target, claim in targets.items() if claim.is_testable]
    if not evaluable:
        raise InputError("claims", f"{name!r} names only definitions: there is nothing to check")
    yield from evaluable


def _resolve_name(name: str, folder: Path) -> str:
    """Resolve a name relative to the folder of the sweep, which may contain claim files and papers."""
    is_own = ".py" in name or ((folder / name).is_dir() and find_paper(name) is None)
    return str(folder / name) if is_own else name


def _require_evaluable(claim: Claim) -> None:
    """Raise `InputError` for a claim without a relation, or with sides outside the language."""
    if not claim.is_testable:
        raise InputError("claims", f"{claim.id} is a definition: there is nothing to check")
    compile_relations(claim), compile_conditions(claim)


def _probe(design: Design, arithmetic: Arithmetic, folder: Path, file: str, base_file: str) -> None:
    """Raise the first run's `InputError` if none of the probed runs is valid, as with an unknown key.

    A valid run knows all swept keys.
    """
    first: InputError | None = None
    for row in design.list_probes():
        try:
            parse_run(design.tables(row), arithmetic, folder)
        except InputError as error:
            first = first or error
        else:
            return
    assert first is not None
    swept = any(first.key.startswith(key.text) for key in design.keys)
    raise first.in_file(file if swept else base_file)


def _digest(described: Mapping[str, Any], design: Design, targets: Mapping[str, str], folder: Path) -> str:
    """Return a hash of the sweep and of the files that it names: claims and data."""
    code = {target.rpartition(":")[0] for name, target in targets.items() if name != target}
    files = sorted({Path(file) for file in code} | set(_list_data_files(design, folder)))
    contents = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files if file.is_file()]
    text = json.dumps([described, contents], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _list_data_files(design: Design, folder: Path) -> Iterator[Path]:
    problem = design.base.get("problem")
    named_data = [problem.get("data")] if isinstance(problem, dict) else []
    named_data += [value for axis in design.axes if axis.key.text == "problem.data" for value in axis.values]
    yield from (folder / name for name in named_data if isinstance(name, str) and name.endswith(FILES))
