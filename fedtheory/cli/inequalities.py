"""`fedtheory inequalities`: the inequalities that a certificate may use, and their arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from inspect import Parameter, getdoc
from typing import TYPE_CHECKING, Annotated

import typer

from fedtheory.cli.output import Json, escape, print_json, print_lines, print_table
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.kernel.expressions import Expr
    from fedtheory.language.claim import Claim

NAME = "inequalities"

Word = Annotated[str, typer.Argument(metavar="[WORD]", help="Part of a name or a formula.")]
OfClaim = Annotated[
    str | None, typer.Option("--claim", metavar="ID", help="Names for assumption(...) in certificates of this claim.")
]


@dataclass(frozen=True)
class Inequality:
    """An inequality for certificates: its name with arguments, and the expression that is non-negative."""

    name: str
    call: str
    formula: str


def run(word: Word = "", claim: OfClaim = None, as_json: Json = False) -> None:
    """List the inequalities for certificates: name, arguments in order, and the non-negative expression."""
    from fedtheory.cli.search_words import select_matching

    entries = [*_list_kernel_inequalities(), *([] if claim is None else _list_assumed(claim))]
    expected = "no inequality has {} in its name or formula"
    found = select_matching(word, entries, lambda each: (each.name, each.call, each.formula), expected, NAME)
    if as_json:
        print_json([vars(each) for each in found])
        return
    rows = [[escape(each.call), escape(each.formula)] for each in found]
    print_table("inequalities", ["in Python", "not negative"], rows, whole=("in Python",))
    print_lines(
        "",
        "in Python: from fedtheory.kernel import Term, NAME; Term(coefficient, NAME(...)) is one term of a certificate",
        "--claim ID adds the names that assumption(name) knows in certificates of a claim",
    )


def _list_kernel_inequalities() -> list[Inequality]:
    from fedtheory.kernel.inequalities import INEQUALITIES, subjects

    return [
        Inequality(
            name,
            f"{name}({', '.join(map(_format_argument, subjects(name)))})",
            (getdoc(says) or "").replace("``", "").rstrip("."),
        )
        for name, says in INEQUALITIES.items()
    ]


def _format_argument(subject: Parameter) -> str:
    """Return the parameter as written in a call."""
    return f"*{subject.name}" if subject.kind is Parameter.VAR_POSITIONAL else subject.name


def _list_assumed(target: str) -> list[Inequality]:
    """Return the assumptions of a claim under the names that certificates use."""
    from fedtheory.cli.unicode_math import unicode_math
    from fedtheory.language.targets import resolve
    from fedtheory.language.typesetting import latex

    return [
        Inequality(name, f"assumption({name!r})", unicode_math(latex(slack)))
        for name, slack in _collect_slacks(resolve(target)).items()
    ]


def _collect_slacks(claim: Claim) -> dict[str, Expr]:
    """Return the slacks of the assumed bounds of a claim by name; empty if no context can be built."""
    from fedtheory.kernel import Rejected
    from fedtheory.proofs.claim_context import build_context
    from fedtheory.proofs.rounds import build_round_context

    try:
        if claim.place == "round":
            return dict(build_round_context(claim, claim.relations[0]).assumed)
        # Proofs of statements about a whole run use assumptions on its local steps.
        context = build_context(replace(claim, place="step") if claim.place == "run" else claim)
    except Rejected as reason:
        raise InputError(claim.id, str(reason)) from None
    return dict(context.assumed)
