r"""Parse answers in LaTeX, such as ``\frac{\eta \sigma^2}{M}``, by recursive descent, without macro expansion."""

from __future__ import annotations

import re
from collections.abc import Mapping

from fedtheory.kernel.expressions import Expr
from verify.grade.answer_limits import FUNCTIONS, Ambiguous, Guarded, Unreadable
from verify.grade.plain_text import TIGHT

_TOKEN = r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\.\d+|{words}[A-Za-z]|\S"
_SPACES = {r"\left", r"\right", r"\,", r"\;", r"\:", r"\!", r"\ ", r"\quad", r"\displaystyle", "$", "~", "&"}
_SPACES |= {r"\(", r"\)", r"\[", r"\]", r"\mathrm", r"\mathit", r"\operatorname", r"\text", r"\textrm", r"\textit"}
_SPACES |= {r"\mathbf", r"\boldsymbol", r"\bm", r"\textstyle", r"\scriptstyle", r"\boxed", r"\limits", TIGHT}
_SPACES |= {rf"\{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r")}
_TIMES = {"*", r"\cdot", r"\times", r"\ast"}
_OVER = {"/", r"\div"}
_CLOSING = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\lceil": r"\rceil", r"\lfloor": r"\rfloor"}
_ENDS = {*_CLOSING.values(), r"\over"}
_ROUNDED = {r"\lceil": "ceil", r"\lfloor": "floor"}
_BLANKS = {r"\,", r"\;", r"\:", r"\ ", r"\quad", "~"}
_BARS = {"|": "|", r"\lvert": r"\rvert", r"\vert": r"\vert"}
_FRACTIONS = {r"\frac", r"\tfrac", r"\dfrac", r"\cfrac", r"\sfrac", r"\nicefrac"}
_FUNCTIONS = {r"\exp": "exp", r"\log": "log", r"\ln": "log", r"\max": "Max", r"\min": "Min"}
_FUNCTIONS |= {name.lower(): name for name in FUNCTIONS} | {name: name for name in FUNCTIONS} | {"ln": "log"}
_GREEK = {rf"\var{symbol}": rf"\{symbol}" for symbol in ("epsilon", "rho", "phi", "theta", "sigma")}
_END = ""
_QUOTED = 30


def read_latex(text: str, names: Mapping[str, Expr]) -> Expr:
    """Return the expression of a LaTeX formula; raises `Unreadable` for anything else."""
    reader = _LatexReader(text, names)
    found = reader.parse_formula()
    reader.expect(_END)
    return found


def _build_token_pattern(names: Mapping[str, Expr]) -> str:
    """Return the pattern of tokens; ``tau``, which TeX reads as t a u, is the symbol of that name if there is one.

    The same holds for ``sigma`` before an index, and for names of functions.
    """
    symbols = {name.partition("_")[0] for name in names} | {name for name in _FUNCTIONS if name.isalpha()}
    words = (rf"(?<![A-Za-z]){word}(?![A-Za-z])|" for word in sorted(symbols) if len(word) > 1 and word.isalpha())
    return _TOKEN.format(words="".join(words))


class _LatexReader:
    def __init__(self, text: str, names: Mapping[str, Expr]) -> None:
        tokens: list[str] = []
        blanks: list[bool] = []
        end, is_apart = 0, False
        for part in re.finditer(_build_token_pattern(names), text):
            token = _GREEK.get(part[0], part[0])
            is_apart = is_apart or part.start() > end or token in _BLANKS
            end = part.end()
            if token not in _SPACES:
                tokens.append(token)
                blanks.append(is_apart)
                is_apart = False
        self._tokens, self._blanks = tokens, blanks
        self._at, self._build = 0, Guarded(names)
        self._has_open_bar = False

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _take_token(self) -> str:
        token = self._next
        self._at += 1
        return token

    def _describe_unexpected(self, expected: str) -> Unreadable:
        """Return the error about an unexpected token, with the text before it."""
        read = " ".join(self._tokens[: self._at])[-_QUOTED:]
        place = f"behind `{read}`" if read else "at the beginning"
        return Unreadable(f"expected {expected}, got {self._next or 'the end'} in the formula, {place}")

    def expect(self, token: str) -> None:
        """Consume a token; raises `Unreadable` for another one."""
        if self._next != token:
            raise self._describe_unexpected(token or "the end")
        self._at += 1

    def parse_formula(self) -> Expr:
        """Parse a whole formula, possibly with the TeX operator "over"."""
        found = self.parse_sum()
        if self._next != r"\over":
            return found
        self._take_token()
        return self._build.quotient(found, self.parse_sum())

    def parse_sum(self) -> Expr:
        """Parse a sum of products."""
        found = self._parse_product()
        while self._next in ("+", "-"):
            sign = self._take_token()
            term = self._parse_product()
            found = found + term if sign == "+" else found - term
        return found

    def _parse_product(self) -> Expr:
        if self._next in ("+", "-"):
            self._build.enter()
            sign = self._take_token()
            found = self._parse_product()
            self._build.leave()
            return -found if sign == "-" else found
        found = self._parse_power()
        denominator: Expr | None = None
        while True:
            if self._next in _OVER:
                self._take_token()
                denominator = self._parse_power()
                found = self._build.quotient(found, denominator)
            elif self._next in _TIMES:
                self._take_token()
                found, denominator = found * self._parse_power(), None
            elif self._starts_factor():
                self._require_one_product(denominator)
                found = found * self._parse_power()
            else:
                return found

    def _require_one_product(self, denominator: Expr | None) -> None:
        """Raise `Unreadable` if the next factor may belong to the last denominator, or to the number before it."""
        if self._blanks[self._at] and self._next[0].isdigit() and self._tokens[self._at - 1][0].isdigit():
            pair = f"{self._tokens[self._at - 1]} {self._next}"
            raise Unreadable(f"two numbers stand side by side in {pair}: write one number, or a sign between them")
        if denominator is not None and not (denominator.is_Rational and self._blanks[self._at]):
            read = "".join(self._tokens[: self._at])[-_QUOTED:]
            raise Ambiguous(
                f"is {self._next} behind `{read}` above or below the fraction bar? write a bracket, as in 1/(4*L)"
            )

    def _starts_factor(self) -> bool:
        token = self._next
        if token in _BARS or token in _BARS.values():
            return token in _BARS and not self._has_open_bar
        return token in _CLOSING or token[:1].isalnum() or (_is_command(token) and token not in _ENDS)

    def _parse_power(self) -> Expr:
        base = self._parse_atom()
        if self._next != "^":
            return base
        self._take_token()
        return self._build.power(base, self._parse_argument())

    def _parse_argument(self) -> Expr:
        """Parse a group, or a single token, which TeX accepts instead."""
        if self._next == "{":
            return self._parse_group()
        if self._next[:1].isdigit():
            return self._build.number(self._take_digit())
        return self._parse_atom()

    def _take_digit(self) -> str:
        r"""Return the first digit of a number, as TeX does: in ``\frac12`` 1 is the numerator."""
        token = self._next
        self._tokens[self._at : self._at + 1] = [token[0], *([token[1:]] if token[1:] else [])]
        self._blanks[self._at : self._at + 1] = [self._blanks[self._at], *([False] if token[1:] else [])]
        return self._take_token()

    def _parse_group(self) -> Expr:
        closing = _CLOSING[self._take_token()]
        found = self.parse_sum()
        if self._next == r"\over" and closing == "}":
            self._take_token()
            found = self._build.quotient(found, self.parse_sum())
        self.expect(closing)
        return found

    def _parse_atom(self) -> Expr:
        self._build.enter()
        found = self._parse_single()
        self._build.leave()
        return found

    def _parse_single(self) -> Expr:
        token = self._next
        if token in _FRACTIONS:
            self._take_token()
            numerator = self._parse_argument()
            return self._build.quotient(numerator, self._parse_argument())
        if token == r"\sqrt":
            return self._parse_root()
        if token in _FUNCTIONS:
            return self._parse_function()
        if token in _CLOSING or (token in _BARS and not self._has_open_bar):
            return self._parse_bracket()
        if token[:1].isdigit() or (token[:1] == "." and token[1:].isdigit()):
            return self._build.number(self._take_token())
        if token[:1].isalpha() or _is_command(token):
            return self._build.name(self._parse_name())
        raise self._describe_unexpected("a number or a symbol")

    def _parse_bracket(self) -> Expr:
        """Parse a bracket, round or not, or an absolute value, which ends with the second bar."""
        token = self._next
        if token in _CLOSING:
            found = self._parse_group()
            return self._build.apply(_ROUNDED[token], [found]) if token in _ROUNDED else found
        self._take_token()
        self._has_open_bar = True
        found = self.parse_sum()
        self.expect(_BARS[token])
        self._has_open_bar = False
        return self._build.apply("abs", [found])

    def _parse_root(self) -> Expr:
        self._take_token()
        degree = self._parse_group() if self._next == "[" else self._build.number("2")
        return self._build.power(self._parse_argument(), self._build.quotient(self._build.number("1"), degree))

    def _parse_function(self) -> Expr:
        name = _FUNCTIONS[self._take_token()]
        if self._next not in _CLOSING:
            return self._build.apply(name, [self._parse_power()])
        closing = _CLOSING[self._take_token()]
        arguments = [self.parse_sum()]
        while self._next == ",":
            self._take_token()
            arguments.append(self.parse_sum())
        self.expect(closing)
        return self._build.apply(name, arguments)

    def _parse_name(self) -> str:
        name = self._take_token().lstrip("\\")
        if self._next != "_":
            return name
        self._take_token()
        if self._next != "{":
            return f"{name}_{self._take_token().lstrip(chr(92))}"
        self._take_token()
        index = ""
        while self._next not in ("}", _END):
            index += self._take_token().lstrip("\\")
        self.expect("}")
        return f"{name}_{index}"


def _is_command(token: str) -> bool:
    return token[:1] == "\\" and token[1:].isalpha()
