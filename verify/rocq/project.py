"""Write a project for Rocq: the library, a file for each claim, and one that prints the assumptions of the theorems."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import read_paper_texts
from fedtheory.language.registry import all_claims
from fedtheory.language.targets import resolve
from fedtheory.proofs import prove
from verify.rocq.export import export_claim, export_id
from verify.rocq.library_parts import BASE, list_existence_theorems, list_instances, read_library
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Exported, escape_comment

LAST = "Assumptions.v"
"""The file that prints the assumptions of every theorem."""
_OPENING = """From Coq Require Import Reals Lra Lia Psatz List.
Require Import {needed}.
Open Scope R_scope.
"""


@dataclass(frozen=True)
class ExportResult:
    """Result for a target: the file and the theorem, or the reason why there are none."""

    id: str
    file: str | None = None
    theorem: str | None = None
    reason: str | None = None
    is_refused: bool = False
    """Whether the kernel rejects the certificate."""

    def document(self) -> dict[str, str | None]:
        """Return the result as JSON, with a reason only if there is one."""
        known = {"id": self.id, "file": self.file, "theorem": self.theorem}
        return known if self.reason is None else {**known, "reason": self.reason}


def list_proved_ids() -> list[str]:
    """Return the ids of all claims that are recorded as proved."""
    return [claim_id for claim_id, claim in all_claims().items() if claim.verdict == "proved"]


def write_project(
    folder: Path, targets: Sequence[str], on_progress: Callable[[int, int], None] = lambda _done, _all: None
) -> list[ExportResult]:
    """Write a project with the theorems of the targets; return one result per target.

    `on_progress` receives the number of the present target and that of all targets.  Raises `InputError` for a folder
    that cannot be written.
    """
    entries, found = [], dict[str, Exported]()
    for done, target in enumerate(targets, start=1):
        on_progress(done, len(targets))
        claim = resolve(target)
        refusal = explain_refusal(claim)
        if refusal is not None:
            entries.append(ExportResult(claim.id, reason=refusal, is_refused=True))
            continue
        try:
            known = export_id(claim.id) if all_claims().get(claim.id) is claim else export_claim(claim)
        except NotExported as reason:
            entries.append(ExportResult(claim.id, reason=str(reason)))
            continue
        found |= collect_uses(known)
        entries.append(ExportResult(claim.id, name_file(known), known.theorem.name))
    try:
        _write_files(folder, found)
    except OSError as error:
        raise InputError("--output", f"expected a folder for the files, got {folder} ({error.strerror})") from None
    return entries


def read_instances(theorems: Collection[str]) -> dict[str, str]:
    """Return the files that apply main theorems in a project to runs of two clients.

    Rocq accepts such a file only if all hypotheses of the theorem can be satisfied together.
    """
    texts = read_paper_texts("rocq/instances", ".v").items()
    return {f"instances/{name}_instance.v": text for name, text in texts if find_instantiated(text) in theorems}


def find_instantiated(text: str) -> str:
    """Return the theorem of a file of instances: the last file that it requires."""
    required: list[str] = re.findall(r"^Require Import (.*)\.$", text, re.MULTILINE)
    return required[-1].split()[-1]


def select_library(known: Exported) -> dict[str, str]:
    """Return the part of the library that a theorem needs, with the proofs that such runs exist."""
    more = dict.fromkeys((*known.theorem.library, *known.theorem.needs))
    return read_library((*BASE, *(name for name in more if name not in BASE)))


def render_file(known: Exported) -> str:
    """Return the text of a claim's file."""
    library = known.theorem.library or BASE[: BASE.index("Run") + 1]
    needed = [*library, *known.theorem.needs, *(used.theorem.name for used in known.uses)]
    return f"{write_heading(known)}\n{_OPENING.format(needed=' '.join(needed))}\n{known.theorem}"


def explain_refusal(claim: Claim) -> str | None:
    """Return the reason why the kernel rejects the certificate of a claim; None if it accepts it, or there is none."""
    proof = prove(claim)
    if proof.verdict != "broken":
        return None
    return f"the kernel refuses its certificate: {proof.failing or 'it shows nothing'}"


def collect_uses(known: Exported) -> dict[str, Exported]:
    """Return a claim with all claims that its proof needs, in the order of their checks."""
    found: dict[str, Exported] = {}
    for used in known.uses:
        found |= collect_uses(used)
    return found | {known.claim.id: known}


def name_file(known: Exported) -> str:
    """Return the path of a claim's file in a project."""
    return f"claims/{known.theorem.name}.v"


def _require_own_files(found: Mapping[str, Exported]) -> None:
    """Raise `InputError` if two claims would be written to one file."""
    owners: dict[str, str] = {}
    for claim_id, known in found.items():
        other = owners.setdefault(name_file(known).lower(), claim_id)
        if other != claim_id:
            raise InputError(
                "id", f"{other} and {claim_id} would both be {name_file(known)}: choose another id for one of them"
            )


def _write_files(folder: Path, found: Mapping[str, Exported]) -> None:
    """Write the library, the claims, the instances and the project file."""
    _require_own_files(found)
    texts = read_library() | {name_file(known): render_file(known) for known in found.values()}
    texts |= read_instances({known.theorem.name for known in found.values()})
    texts[LAST] = _print_assumptions(found.values())
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "_CoqProject").write_text("\n".join(["-R . Fedtheory", *texts]) + "\n", encoding="utf-8")


def _print_assumptions(found: Iterable[Exported]) -> str:
    """Return the file that prints the axioms on which each theorem depends."""
    names = [known.theorem.name for known in found]
    lines = [
        "(** Prints the axioms on which each theorem depends: only those of the standard library. *)",
        f"Require Import {' '.join([*list_instances(), *names])}.",
        *(f"Print Assumptions {name}." for name in (*list_existence_theorems(), *names)),
    ]
    return "\n".join(lines) + "\n"


def write_heading(known: Exported) -> str:
    """Return a comment for Rocq with the claim in its source's symbols, and the name of each."""
    claim = known.claim
    lines = [f"{claim.id}" + (f": {claim.title}" if claim.title else ""), "", "The statement, in the paper's notation:"]
    lines += [f"    {line}" for line in claim.links]
    legend = list(_list_legend(known))
    if legend:
        lines += ["", "where", *legend]
    body = "\n    ".join(line.rstrip() for line in lines)
    return f"(** {escape_comment(body)} *)"


def _list_legend(known: Exported) -> Iterator[str]:
    """Yield a line for each symbol of the claim that has another name in Rocq."""
    for symbol, quantity in known.claim.notation.items():
        name = known.theorem.names.get(quantity)
        if name is not None and str(symbol) != name:
            yield f"    {symbol}  is  {name}"
