"""Names of the parts of a local step: of the variable S in a theorem about any step, or of a step of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from verify.rocq.terms import Atom, Mean, Named, Number, Term, is_own, text
from verify.rocq.theorem import Binder


@dataclass(frozen=True)
class Place:
    """The step that a statement concerns, as Rocq text; texts are equal up to these names at all places."""

    step: str
    space: str
    """The space of its vectors."""
    clients: str
    own: str
    """The objective of client i."""
    variables: Sequence[Binder] = ()
    """The variables in its name."""
    past: str = "past"
    """The vectors that do not depend on the noise of the step."""
    centralised: str = "v"
    """The model of gradient descent on F."""

    @property
    def mean(self) -> str:
        """Return the objective F."""
        return f"F {self.step}"

    def text(self, term: Term) -> str:
        """Return a term as text."""
        return text(term, self.clients)

    def _enclose(self, point: Term) -> str:
        """Return a point as text, in brackets unless it has them already."""
        name = self.text(point)
        return name if name == self.centralised and name.startswith("(") else f"({name})"

    def value(self, objective: str, point: Term, *, opaque: bool = False) -> Term:
        """Return the value of an objective at a point, named in Rocq; `opaque` if it is a number without structure."""
        at = self._enclose(point)
        if opaque:
            return Number(f"value ({objective}) {at}")
        if objective == self.mean and not is_own(point):
            return Named(f"value ({self.mean}) {at}", Mean(Atom(f"value ({self.own}) {at}", kind="S", own=True)))
        return Atom(f"value ({objective}) {at}", kind="S", own=objective == self.own or is_own(point))

    def gradient(self, objective: str, point: Term, *, opaque: bool = False) -> Term:
        """Return the gradient of an objective at a point; `opaque` if it is a vector without structure."""
        at = self._enclose(point)
        if opaque:
            return Atom(f"grad ({objective}) {at}")
        is_optimum = at == "(x_star)"
        if objective == self.mean and not is_own(point):
            of_client = Atom(f"grad ({self.own}) {at}", own=True, vanishing=is_optimum)
            return Named(f"grad ({self.mean}) {at}", Mean(of_client))
        is_client = objective == self.own
        return Atom(f"grad ({objective}) {at}", own=is_client or is_own(point), vanishing=is_client and is_optimum)


def name_step(step: str, *variables: Binder) -> Place:
    """Return the names of the parts of a step with a name in which variables occur."""
    return Place(step, f"step_space {step}", f"(step_clients {step})", f"client_objective {step} i", variables)


AT_STEP = name_step("S", Binder("S", "step"))
"""Any step."""
_ROUND = (Binder("A", "run"), Binder("n", "nat"))
FIRST = name_step("(step_at A n O)", *_ROUND)
"""The first step of round n of a run A."""
IN_RUN = replace(name_step("(step_at A n k)", *_ROUND, Binder("k", "nat")), centralised="(centralised A n k)")
"""Step k of round n."""
