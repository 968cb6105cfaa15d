"""Count the modules behind "proved" and "refuted" from imports, and list reasons for missing proofs.

As a script this module writes both into docs/trust.md.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

from modules import ROOT, modules, reached

from fedtheory.language.registry import all_sources

PAGE = ROOT / "docs" / "trust.md"
ROW = re.compile(r"^\| `([\w./]+)` \|\s*(\d*)\s*\|", re.M)

_SHOWN = (
    "entries",
    "repairs",
    "missing_assumptions",
    "near_misses",
    "outline",
    "outline_steps",
    "published_proofs",
    "proof_report",
    "rule_labels",
)
SHOWN_ONLY = frozenset(
    (
        "fedtheory.kernel.quadratic_forms",
        "fedtheory.kernel.messages",
        "fedtheory.kernel.notation",
        "fedtheory.kernel.sizes",
        "fedtheory.kernel.work",
        "fedtheory.proofs.terms.words",
        *(f"fedtheory.proofs.{name}" for name in _SHOWN),
    )
)
"""Modules that display proofs, or count work; a verdict "proved" does not depend on them."""
TERMS = "fedtheory.proofs.terms"
"""Modules of proof terms; verdicts depend on those that the checker reaches."""
TACTICS = f"{TERMS}.tactics"
"""Modules that generate terms, which are then checked."""
_DATA = ("certificate", "combination", "links", "means", "parts", "recursion")
CERTIFICATES = frozenset(f"fedtheory.proofs.{name}" for name in _DATA)
"""Certificates as data from which terms are generated; only these terms are trusted."""
JUDGED_LATER = ("fedtheory.proofs.certificates_of_papers", "fedtheory.proofs.document")
"""Modules that find, write, describe and read certificates, which are decoded before the check."""
PROOF_CHAPTERS = ("kernel", "proofs")
RUN_CHAPTERS = ("language", "runfile", "engine", "federation", "arithmetic", "sources")
PROOFS_OF_PAPERS, RUNS_OF_PAPERS = ("signs", "context"), ("quantities", "assumptions")
"""Parts of papers that are discovered in their folders."""


def lines(name: str) -> int:
    """Return the number of lines of a module's file."""
    return len(modules()[name].read_text(encoding="utf-8").splitlines())


LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def lines_of_code(name: str) -> int:
    """Return the number of lines of a module without docstrings, comments and blank lines."""
    text = modules()[name].read_text(encoding="utf-8")
    expressions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    words = [node for node in expressions if isinstance(node.value, ast.Constant)]
    left_out = {line for node in words for line in range(node.lineno, (node.end_lineno or 0) + 1)}
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in LAYOUT]
    return len({line for token in tokens for line in range(token.start[0], token.end[0] + 1)} - left_out)


def _short(name: str) -> str:
    return name.removeprefix("fedtheory.").replace(".", "/")


def proved() -> list[str]:
    """Return the modules of the kernel and of the translation of claims, without certificates."""
    wanted = [f"fedtheory.{chapter}" for chapter in PROOF_CHAPTERS]
    found = {name for name in modules() for chapter in wanted if name == chapter or name.startswith(f"{chapter}.")}
    found |= _of_papers(PROOFS_OF_PAPERS)
    return sorted(name for name in found - SHOWN_ONLY - CERTIFICATES - _beside() if not name.startswith(JUDGED_LATER))


def _beside() -> set[str]:
    """Return the modules of proof terms on which no verdict depends."""
    used = reached("fedtheory.proofs.checker")
    return {name for name in modules() if name.startswith(TERMS) and (name not in used or name.startswith(TACTICS))}


def _of_papers(parts: tuple[str, ...]) -> set[str]:
    """Return the modules of some parts of all papers."""
    places = {name: name.split(".") for name in modules() if name.startswith("fedtheory.sources.")}
    return {name for name, place in places.items() if len(place) > 3 and place[3] in parts}


def refuted() -> dict[str, int]:
    """Return the lines of code behind a check in rationals, by chapter."""
    found = set().union(*map(reached, ("verify.check", *_of_papers(RUNS_OF_PAPERS))))
    counts = {f"{chapter}/": 0 for chapter in RUN_CHAPTERS} | {"verify/check/": 0}
    for name in found:
        chapter = next((c for c in RUN_CHAPTERS if name.startswith(f"fedtheory.{c}")), None)
        key = f"{chapter}/" if chapter else "verify/check/" if name.startswith("verify.check") else None
        if key is not None:
            counts[key] += lines(name)
    return counts


def counted() -> dict[str, int]:
    """Return every row of the page, with its lines."""
    own, others = {_short(name): lines(name) for name in proved()}, refuted()
    sums = {"proved": sum(own.values()), "proved/code": sum(map(lines_of_code, proved()))}
    return own | others | sums | {"refuted": sum(others.values())}


def unproved() -> str:
    """Return rows of the table of supported claims: ids, and the reason for the missing certificate."""
    rows = []
    for source in all_sources().values():
        for reason, names in source.unproved.items():
            rows.append(f"| {', '.join(f'`{source.key}:{name}`' for name in names.split())} | {reason} |")
    return "\n".join(rows)


def main() -> None:
    """Write the counts and the reasons into the page."""
    text, counts = PAGE.read_text(encoding="utf-8"), counted()
    text = ROW.sub(lambda row: f"| `{row[1]}` | {counts[row[1]]} |", text)
    before, head, rest = text.partition("| claims | why there is none |\n| --- | --- |\n")
    PAGE.write_text(before + head + unproved() + rest[rest.index("\n\n") :], encoding="utf-8")


if __name__ == "__main__":
    main()
