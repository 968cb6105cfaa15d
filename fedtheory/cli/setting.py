"""Reports the setting that is assumed for claims without an explicit one, for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fedtheory.cli.output import escape, print_lines

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim


def encode_setting(claim: Claim) -> dict[str, Any]:
    """Return the JSON keys: the assumptions added by default, and the Python line that states all assumptions."""
    from fedtheory.language.setting import format_setting

    names = [assumption.name for assumption in claim.supposed]
    return {"assumed": names, "assumed_line": format_setting(claim) if names else None}


def list_setting_lines(claims: Iterable[tuple[str, Claim]]) -> list[str]:
    """Describe the default setting of claims; one line for all claims with the same setting."""
    from fedtheory.language.setting import describe_setting, format_setting

    alike: dict[str, list[str]] = {}
    for called, claim in claims:
        if claim.supposed:
            sentence = f"so {describe_setting(claim)} is assumed, which is {format_setting(claim)}"
            alike.setdefault(sentence, []).append(called)
    return [f"{', '.join(names)}: no setting is named, {sentence}" for sentence, names in alike.items()]


def print_setting(claims: Iterable[tuple[str, Claim]]) -> None:
    """Print the default setting of claims for a terminal."""
    print_lines(*map(escape, list_setting_lines(claims)))
