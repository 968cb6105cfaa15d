"""The mistakes a user can make, one class for each kind, each a sentence."""

from __future__ import annotations


class FedtheoryError(Exception):
    """Anything that the command line answers with one line instead of a traceback."""


class InputError(FedtheoryError):
    """A value that was given is not what was expected.

    `key` names the place in dotted form (``problem.hessians[0]``); the reader of
    a file adds the file's name in front with `in_file`.
    """

    def __init__(self, key: str, message: str, file: str | None = None) -> None:
        # All arguments go to the base class, so that the error survives the way back from a worker process.
        super().__init__(key, message, file)
        self.key, self.message, self.file = key, message, file

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.key, self.message) if part)

    def in_file(self, file: str) -> InputError:
        """Return the error with the file that contains it; a file that it names already is nearer to the cause."""
        return type(self)(self.key, self.message, self.file or file)


class CodeError(InputError):
    """The code of a user's file raises an exception."""


class TooLarge(InputError):
    """A run exceeds a limit by its keys and the header of its data file: further mistakes are not looked for."""


class Misplaced(FedtheoryError):
    """A quantity of a claim has no value at the claim's place."""


class NotApplicable(FedtheoryError):
    """A claim says nothing about a run, because one of its assumptions fails there or a quantity has no value.

    `name` is that of the quantity, where it is one.
    """

    def __init__(self, reason: str = "", name: str = "") -> None:
        super().__init__(reason, name)
        self.reason, self.name = reason, name

    def __str__(self) -> str:
        return f"{self.name} has no value: {self.reason}" if self.name else self.reason

    def about(self, name: str) -> NotApplicable:
        """Return the reason for the quantity of that name, which depends on a value that does not exist."""
        return type(self)(self.reason, name)


class NoMinimiser(NotApplicable):
    """Something is measured from a minimiser, and the objective has none."""


class Unresolved(NotApplicable):
    """Floats cannot tell whether an assumption holds; rationals can."""

    def about(self, _name: str) -> NotApplicable:
        """Return the error unchanged: rationals may find a value."""
        return self


class Diverging(FedtheoryError):
    """The run leaves the range of the arithmetic: its step size is too large."""


class WorkersLost(FedtheoryError):
    """The processes that did the work are gone; what they had finished is kept."""


class Interrupted(FedtheoryError):
    """The user stopped the work; the message says what is kept."""


class MissingExtra(FedtheoryError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(extra, purpose)
        self.extra, self.purpose = extra, purpose

    def __str__(self) -> str:
        return f"{self.purpose} needs the optional extra: pip install 'fedtheory[{self.extra}]'"
