"""Exceptions for the mistakes of users, one class for each kind; each message is one sentence."""

from __future__ import annotations


class FedtheoryError(Exception):
    """Base of all errors that the command line reports in one line instead of a traceback."""


class InputError(FedtheoryError):
    """A given value differs from what was expected.

    `key` is the dotted path of the value (``problem.hessians[0]``); the reader of
    a file adds the name of the file with `in_file`.
    """

    def __init__(self, key: str, message: str, file: str | None = None) -> None:
        # All arguments go to the base class, so that the error can be unpickled when a worker process raises it.
        super().__init__(key, message, file)
        self.key, self.message, self.file = key, message, file

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.key, self.message) if part)

    def in_file(self, file: str) -> InputError:
        """Return the error with the name of a file; an error that has a file already keeps it."""
        return type(self)(self.key, self.message, self.file or file)


class CodeError(InputError):
    """The code of a user's Python file raised an exception."""


class TooLarge(InputError):
    """A run exceeds a limit, which its keys and the header of its data file show: no further mistakes are reported."""


class Misplaced(FedtheoryError):
    """A quantity of a claim is undefined at the point (round or local step) that the claim is about."""


class NotApplicable(FedtheoryError):
    """A claim does not apply to a run: an assumption fails there, or a quantity is undefined.

    `name` is the name of the undefined quantity, if there is one.
    """

    def __init__(self, reason: str = "", name: str = "") -> None:
        super().__init__(reason, name)
        self.reason, self.name = reason, name

    def __str__(self) -> str:
        return f"{self.name} has no value: {self.reason}" if self.name else self.reason

    def about(self, name: str) -> NotApplicable:
        """Return this error for the quantity `name`, which depends on the undefined value."""
        return type(self)(self.reason, name)


class NoMinimiser(NotApplicable):
    """A quantity refers to a minimiser, and the objective has none."""


class Unresolved(NotApplicable):
    """Floats cannot decide whether an assumption holds; rationals can."""

    def about(self, _name: str) -> NotApplicable:
        """Return the error unchanged, because the quantity may be defined in rationals."""
        return self


class Diverging(FedtheoryError):
    """The iterates exceed the range of the arithmetic: the step size is too large."""


class WorkersLost(FedtheoryError):
    """The worker processes have ended early; the results that they had finished are kept."""


class Interrupted(FedtheoryError):
    """The user interrupted the work; the message lists the results that are kept."""


class MissingExtra(FedtheoryError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(extra, purpose)
        self.extra, self.purpose = extra, purpose

    def __str__(self) -> str:
        return f"{self.purpose} needs the optional extra: pip install 'fedtheory[{self.extra}]'"
