"""Parse typed numbers: grouped thousands, decimal commas, percent, mixed fractions."""

from __future__ import annotations

import re
import unicodedata

from verify.grade.answer_limits import Ambiguous

_GROUPED = re.compile(r"(?<![\w.,])(\d{1,3})((?:(?:[ '’_\u2009\u202f]|\\,)\d{3})+)(?![\w])")
_COMMA_GROUPS = re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:(?:,\d{3}){2,}(?:\.\d+)?|(?:,\d{3})+\.\d+)(?![\w,])")
_POINT_GROUPS = re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:(?:\.\d{3}){2,}(?:,\d+)?|(?:\.\d{3})+,\d+)(?![\w.])")
_EITHER = re.compile(r"(?<![\w.,])([1-9]\d{0,2}),(\d{3})(?![\w.,])")
_EITHER_POINT = re.compile(_EITHER.pattern.replace("),(", r")[.,]("))
"""Numbers such as 1.234.567, next to which a point may also group digits."""
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_LISTS = re.compile(r"max|min|pow|Rational|Fraction|\[|\{\s*\d", re.IGNORECASE)
"""Words after which a comma separates arguments."""
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*(?:\\?%|percent\b|per cent\b)(?!\s*[\w(\\])")
_MIXED = re.compile(r"\s*([+-]?)\s*(\d+)\s+(\d+)\s*/\s*(\d+)\s*")
_RATIO = re.compile(r"\s*(\d+)\s*:\s*(\d+)\s*")
_AND_A_FRACTION = re.compile("(\\d+)\\s*([\u00bc-\u00be\u2150-\u215e])")
_RAISED_AND_LOWERED = re.compile("(^|[-+*(=])\\s*([⁰¹²³⁴-⁹]+)\\s*[⁄∕/]\\s*([₀-₉]+)")
"""A fraction with small digits; after a name the raised digits are an exponent."""
_ROUGHLY = re.compile(
    r"^\s*(?:~|≈|\\approx(?![A-Za-z])|\\sim(?![A-Za-z])|about\b|approximately\b|approx\.?|ca\.|circa\b|roughly\b)\s*"
)
_AND_SO_ON = re.compile(r"(?<=\d)\s*(?:\.{2,}|…|\\l?dots)\s*$")
_BRACED_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d)")
_ZERO_AND_A_DOT = re.compile(r"(?<![\w.,])0[·‧⋅](?=\d)")
"""A raised decimal point, because a product with zero would be zero."""
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))")
_COUNTED = re.compile(
    r"(.*\d)\s*(?:local\s+steps?|steps?|rounds?|iterations?|updates?|clients?|epochs?|gradients?|samples?)\.?\s*",
    re.DOTALL,
)


def write_plain_numbers(text: str) -> str:
    """Write the numbers of a text in Python notation; raises `Ambiguous` for 1,234, which has two readings."""
    text = _AND_A_FRACTION.sub(lambda found: f"({found[1]}+{_normalise_fraction(found[2])})", _ROUGHLY.sub("", text))
    text = _RAISED_AND_LOWERED.sub(
        lambda found: f"{found[1]}({_normalise_fraction(found[2])}/{_normalise_fraction(found[3])})", text
    )
    text = _ZERO_AND_A_DOT.sub("0.", _BRACED_COMMA.sub(",", _AND_SO_ON.sub("", text)))
    text = _GROUPED.sub(lambda found: found[1] + re.sub(r"\D", "", found[2]), text)
    if not _LISTS.search(text):
        text = _COMMA_GROUPS.sub(lambda found: found[0].replace(",", ""), text)
        has_groups = _POINT_GROUPS.search(text) is not None
        text = _POINT_GROUPS.sub(lambda found: found[0].replace(".", "").replace(",", "."), text)
        _require_one_reading(text, _EITHER_POINT if has_groups else _EITHER)
        text = _DECIMAL_COMMA.sub(".", text)
    text = _PERCENT.sub(r"(\1/100)", text)
    if mixed := _MIXED.fullmatch(text):
        return f"{mixed[1]}({mixed[2]}+{mixed[3]}/{mixed[4]})"
    ratio = _RATIO.fullmatch(text)
    return f"{ratio[1]}/{ratio[2]}" if ratio else text


def write_powers_of_ten(text: str) -> str:
    """Replace the x in 2.1 x 10^-3 by a sign of multiplication."""
    return _TIMES_TEN.sub("*", text)


def remove_unit(text: str) -> str:
    """Remove the counted unit (steps, rounds or clients) after a number; other texts are returned as given."""
    found = _COUNTED.fullmatch(text)
    return found[1] if found else text


def _require_one_reading(text: str, either: re.Pattern[str]) -> None:
    found = either.search(text)
    if found:
        whole, part = found[1], found[2]
        raise Ambiguous(f"{found[0]} can be {whole}{part} or {whole}.{part}: write one of these")


def _normalise_fraction(character: str) -> str:
    return unicodedata.normalize("NFKC", character).replace("⁄", "/")
