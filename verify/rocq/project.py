"""A folder that Rocq checks: the library, a file for each claim, and one that prints what the theorems rest on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.language.targets import resolve
from fedtheory.proofs import prove
from verify.rocq.export import export_id, exported
from verify.rocq.exported import Exported
from verify.rocq.heading import heading
from verify.rocq.refusals import NotExported

LIBRARY = (
    "Space",
    "Clients",
    "Objectives",
    "Normal",
    "Step",
    "Own",
    "Run",
    "Lengths",
    "Interval",
    "Instance",
    "TwoClients",
)
"""The files of the library on FedAvg, each after those that it needs."""
ASYNCHRONOUS = (
    "Schedule",
    "Stale",
    "Weights",
    "Samples",
    "Means",
    "Types",
    "Windows",
    "Cycles",
    "Ties",
    "StaleInstance",
    "SamplesInstance",
)
"""Files on servers that do not wait for all clients."""
INTERVALS = ("Gaps",)
"""Those on the gaps between which the intervals of a run lie."""
MESSAGES = ("Messages", "Growth")
"""Those on what an aggregation sends, and on least constants."""
DRAWN = (
    "Round",
    "Curvature",
    "RoundSteps",
    "Changes",
    "Vanishing",
    "Settling",
    "RoundInstance",
    "Sampled",
    "SampledInstance",
)
"""Those on single rounds in which clients are drawn, and on runs of such rounds."""
DEFINED = ("Definitions",)
"""Files for algorithms given by definitions."""
NOISY = ("CoinRuns", "AlikeInstance", "NoisyStaleInstance", "NoisySampledInstance")
"""Runs with noise on which main theorems are instantiated."""
QUIET = ("LipschitzInstance", "ScheduleInstance")
"""A run for theorems that assume full gradients, and a schedule, in which nothing is random."""
LAST = "Assumptions.v"
"""The file that prints what every theorem rests on."""
_INSTANCES = (
    "Instance",
    "TwoClients",
    "StaleInstance",
    "SamplesInstance",
    "RoundInstance",
    "SampledInstance",
    *NOISY,
    *QUIET,
)
_BUILT = (
    "quadratic_convex",
    "quadratic_smooth",
    "two_clients_unbiased",
    "two_clients",
    "stale_scheme",
    "stale_weights",
    "stale_given",
    "stale_minimiser",
    "stale_draws",
    "stale_smooth_draws",
    "stale_independent",
    "stale_round_minimiser",
    "stale_weights_are_given",
    "stale_window",
    "round_unbiased",
    "round_given",
    "round_draws",
    "round_smooth",
    "round_independent",
    "round_distance",
    "drawn_unbiased",
    "drawn_participants",
    "coin_run_unbiased",
    "alike_unbiased",
    "alike_second_moment",
    "noisy_scheme",
    "noisy_draws",
    "noisy_is_noisy",
    "noisy_drawn_unbiased",
    "noisy_drawn_participants",
    "lipschitz_losses",
    "lipschitz_servers",
    "in_turn_fixed",
    "in_turn_asynchronous",
    "in_turn_whole_cycles",
    "in_turn_period",
    "in_turn_window",
)
"""Theorems of the library that say that the structures exist."""
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
    """Whether the kernel refuses the certificate."""

    def document(self) -> dict[str, str | None]:
        """Write the result as JSON; a reason only where there is one."""
        known = {"id": self.id, "file": self.file, "theorem": self.theorem}
        return known if self.reason is None else {**known, "reason": self.reason}


def proved_ids() -> list[str]:
    """The ids of all claims that are recorded as proved."""
    return [claim_id for claim_id, claim in all_claims().items() if claim.verdict == "proved"]


def write_project(
    folder: Path, targets: Sequence[str], tell: Callable[[int, int], None] | None = None
) -> list[ExportResult]:
    """Write a project with the theorems of the targets; an entry for each of them.  `InputError` for a bad folder."""
    entries, found = [], dict[str, Exported]()
    for done, target in enumerate(targets, start=1):
        if tell is not None:
            tell(done, len(targets))
        claim = resolve(target)
        refusal = refusal_of(claim)
        if refusal is not None:
            entries.append(ExportResult(claim.id, reason=refusal, is_refused=True))
            continue
        try:
            known = _export(claim)
        except NotExported as reason:
            entries.append(ExportResult(claim.id, reason=str(reason)))
            continue
        found |= with_uses(known)
        entries.append(ExportResult(claim.id, file_of(known), known.theorem.name))
    try:
        _write(folder, found)
    except OSError as error:
        raise InputError("--output", f"expected a folder for the files, got {folder} ({error.strerror})") from None
    return entries


def library_files(
    names: Iterable[str] = (*LIBRARY, *INTERVALS, *MESSAGES, *ASYNCHRONOUS, *DRAWN, *DEFINED, *NOISY, *QUIET),
) -> dict[str, str]:
    """The texts of the library by their paths in a project."""
    home = files("verify.rocq") / "library"
    return {f"library/{name}.v": (home / f"{name}.v").read_text(encoding="utf-8") for name in names}


def instance_files(theorems: Collection[str]) -> dict[str, str]:
    """Main theorems of the sources on runs of two clients, of those whose theorems are in a project.

    Rocq accepts such a file only if all hypotheses of the theorem can be met together.
    """
    home, found = files("verify.rocq") / "instances", dict[str, str]()
    for file in sorted(home.iterdir(), key=lambda one: one.name):
        text = file.read_text(encoding="utf-8")
        if instantiated_in(text) in theorems:
            found[f"instances/{file.name.removesuffix('.v')}_instance.v"] = text
    return found


def instantiated_in(text: str) -> str:
    """The theorem that a file of instances is about: the last file that it requires."""
    required: list[str] = re.findall(r"^Require Import (.*)\.$", text, re.MULTILINE)
    return required[-1].split()[-1]


def library_of(known: Exported) -> dict[str, str]:
    """The part of the library on which a theorem rests, with what shows that there are such runs."""
    more = dict.fromkeys((*known.theorem.library, *known.theorem.needs))
    return library_files((*LIBRARY, *(name for name in more if name not in LIBRARY)))


def text_of(known: Exported) -> str:
    """The file of a claim."""
    library = known.theorem.library or LIBRARY[: LIBRARY.index("Run") + 1]
    needed = [*library, *known.theorem.needs, *(used.theorem.name for used in known.uses)]
    return f"{heading(known)}\n{_OPENING.format(needed=' '.join(needed))}\n{known.theorem}"


def refusal_of(claim: Claim) -> str | None:
    """Why the kernel refuses the certificate of a claim; None where it accepts it, or where there is none."""
    proof = prove(claim)
    if proof.verdict != "broken":
        return None
    failing = next((step.text for step in proof.steps if not step.holds), "it shows nothing")
    return f"the kernel refuses its certificate: {failing}"


def _export(claim: Claim) -> Exported:
    return export_id(claim.id) if all_claims().get(claim.id) is claim else exported(claim)


def with_uses(known: Exported) -> dict[str, Exported]:
    """A claim with all that its proof needs, in the order in which they are checked."""
    found: dict[str, Exported] = {}
    for used in known.uses:
        found |= with_uses(used)
    return found | {known.claim.id: known}


def file_of(known: Exported) -> str:
    """Return the path of a claim's file in a project."""
    return f"claims/{known.theorem.name}.v"


def _require_own_files(found: Mapping[str, Exported]) -> None:
    """Raise `InputError` where two claims would be written to one file."""
    owners: dict[str, str] = {}
    for claim_id, known in found.items():
        other = owners.setdefault(file_of(known).lower(), claim_id)
        if other != claim_id:
            raise InputError("id", f"{other} and {claim_id} would both be {file_of(known)}: give one another id")


def _write(folder: Path, found: Mapping[str, Exported]) -> None:
    _require_own_files(found)
    texts = library_files() | {file_of(known): text_of(known) for known in found.values()}
    texts |= instance_files({known.theorem.name for known in found.values()})
    texts[LAST] = _assumptions(found.values())
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "_CoqProject").write_text("\n".join(["-R . Fedtheory", *texts]) + "\n", encoding="utf-8")


def _assumptions(found: Iterable[Exported]) -> str:
    names = [known.theorem.name for known in found]
    lines = [
        "(** What every theorem rests on: nothing but axioms of the standard library. *)",
        f"Require Import {' '.join([*_INSTANCES, *names])}.",
        *(f"Print Assumptions {name}." for name in (*_BUILT, *names)),
    ]
    return "\n".join(lines) + "\n"
