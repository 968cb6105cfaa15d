"""`fedtheory prove`: check a claim's certificate with the kernel, and find the failing step of its published proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from fedtheory.cli.output import (
    Json,
    NoCode,
    escape,
    name_file_in_errors,
    print_json,
    print_lines,
    print_table,
    style_verdict,
    write_text,
)
from fedtheory.cli.setting import encode_setting, print_setting
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.cli.proof_search import ProofSearch
    from fedtheory.language.claim import Claim
    from fedtheory.proofs import Proof
    from fedtheory.proofs.document import Document
    from verify.published_proofs import PrintedStep

NAME = "prove"
T = TypeVar("T")

ProofTarget = Annotated[
    str, typer.Argument(metavar="TARGET", help="Ids of claims, file.py:NAME, or a certificate FILE.json.")
]

_MARKS = {"proved": "[green]proved[/green]", "fails": "[bold red]fails[/bold red] ", "not certified": "open  "}


CertificateFile = Annotated[
    str | None,
    typer.Option("--certificate", metavar="FILE", help="Check this certificate (JSON) for the claim."),
]
ClaimFiles = Annotated[
    list[str] | None,
    typer.Option("--claims", metavar="FILE", help="Your file.py with the claim of FILE.json; may be repeated."),
]
SaveFile = Annotated[str | None, typer.Option("--save", metavar="FILE", help="Write the claim's certificate as JSON.")]
Search = Annotated[
    bool, typer.Option("--search", help="Search for missing certificates of your own paper, and write them there.")
]
NoSearch = Annotated[bool, typer.Option("--no-search", help="Do not search for a certificate if none is recorded.")]
Effort = Annotated[
    int | None, typer.Option("--effort", metavar="N", min=1, help="Work that a search may take, counted, not timed.")
]
AsTerm = Annotated[bool, typer.Option("--term", help="Show the certificate as a proof term, step by step.")]
Tighten = Annotated[bool, typer.Option("--tighten", help="Lower the numbers of a bound as long as it is proved.")]


def run(
    target: ProofTarget,
    certificate: CertificateFile = None,
    save: SaveFile = None,
    *,
    claims: ClaimFiles = None,
    search: Search = False,
    no_search: NoSearch = False,
    effort: Effort = None,
    tighten: Tighten = False,
    term: AsTerm = False,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> int:
    """Check a claim's certificate and the steps of its published proof. Exit code 1 if the certificate is broken.

    For a user-defined claim without a certificate, a search tries to derive one from proved claims on the same
    quantities; with --search, also for the claims in your paper's folder, and writes certificates into `found`.

    For a paper's folder, a source, a pattern or a file.py, the certificates of all claims are checked.  A certificate
    is data, and refers to published claims, or to those in files given by --claims mine.py.  No other code is executed.
    """
    from fedtheory.cli.proof_search import write_certificates
    from fedtheory.cli.proof_terms import encode_terms, print_terms, restate_steps, write_as_terms
    from fedtheory.cli.tightening import encode_tightened, print_tightened, tighten_found
    from verify.published_proofs import check_published_proof

    proofs = _check_target(target, certificate, claims or [])
    if search:
        _require_folder(target)
    is_searched = [not no_search and certificate is None and _is_open(proof, search) for proof in proofs]
    searched = _search(target, proofs, is_searched, effort)
    proofs = [proof if search is None else search.proof for proof, search in zip(proofs, searched, strict=True)]
    tightened = tighten_found(searched, effort) if tighten else None
    terms = write_as_terms(_require_single(proofs, "--term")) if term else None
    proofs = proofs if terms is None else [restate_steps(terms, proofs[0])]
    if save is not None:
        _save(proofs, save)
    files = write_certificates(searched) if search else []
    found = [(proof, check_published_proof(proof.claim)) for proof in proofs]
    if as_json:
        documents = _encode_proofs(found, searched)
        documents[0] |= encode_tightened(tightened) if tightened is not None else {}
        documents[0] |= encode_terms(terms) if terms is not None else {}
        print_json(documents[0] if len(found) == 1 else documents)
        return _choose_exit_code(proofs)
    if len(found) > 1:
        _print_table(proofs)
        print_lines(*(f"wrote {file}" for file in files))
    else:
        _print_one(found[0], searched[0])
    if tightened is not None:
        print_tightened(tightened)
    if terms is not None:
        print_terms(terms)
    return _choose_exit_code(proofs)


def _choose_exit_code(proofs: list[Proof]) -> int:
    """Return 1 if a proof is broken, else 0."""
    return int(any(proof.verdict == "broken" for proof in proofs))


def _encode_proofs(
    found: list[tuple[Proof, list[PrintedStep]]], searched: list[ProofSearch | None]
) -> list[dict[str, Any]]:
    """Return the proofs as JSON objects, with the results of a search."""
    from fedtheory.cli.proof_search import encode_search

    pairs = zip(found, searched, strict=True)
    return [encode_proof(*each) | ({} if search is None else encode_search(search)) for each, search in pairs]


def _print_one(found: tuple[Proof, list[PrintedStep]], searched: ProofSearch | None) -> None:
    from fedtheory.cli.proof_search import print_search

    if searched is None:
        print_text(*found)
    else:
        print_search(searched)


def _check_target(target: str, certificate: str | None, files: list[str]) -> list[Proof]:
    """Check the certificate in a file, or the certificates of the claims that a target names."""
    from fedtheory.language.targets import expand, resolve
    from fedtheory.proofs import prove
    from fedtheory.proofs.document import find_claim_id, read_document

    if target.endswith(".json"):
        if certificate is not None:
            raise InputError("--certificate", f"expected a claim as the target, got the certificate {target}")
        document = read_document(target)
        with name_file_in_errors(target):
            claim = _find_claim(find_claim_id(document), files)
        return [_check(claim, document, target)]
    if files:
        raise InputError("--claims", f"expected the target FILE.json, got {target}")
    claims = [resolve(single) for single in expand([target])]
    if certificate is None:
        return [prove(claim) for claim in claims]
    return [_check(_require_single(claims, "--certificate"), read_document(certificate), certificate)]


def _require_folder(target: str) -> None:

    if not Path(target).is_dir():
        raise InputError(
            "--search", f"expected the folder of your own paper, got {target}: leave out --search to prove a claim"
        )


def _is_open(proof: Proof, in_folder: bool) -> bool:
    """Return whether to search for a certificate: of a user's claim, or of one in a folder that is not refuted."""
    is_eligible = not proof.claim.is_published or (in_folder and proof.claim.verdict != "refuted")
    return proof.verdict == "no certificate" and is_eligible


def _search(target: str, proofs: list[Proof], chosen: list[bool], effort: int | None) -> list[ProofSearch | None]:
    """Search for a certificate of the chosen claims; return the results."""
    from fedtheory.cli.proof_search import search_proof

    return [
        search_proof(proof.claim, target, effort) if is_chosen else None
        for proof, is_chosen in zip(proofs, chosen, strict=True)
    ]


def _find_claim(name: str, files: list[str]) -> Claim:
    """Return the claim that a document refers to: from the user's files, or a published one.

    No other file is executed.
    """
    from fedtheory.language.registry import find, is_an_id
    from fedtheory.language.targets import expand, resolve

    own = [claim for claim in map(resolve, expand(files)) if claim.id == name]
    if len(own) > 1:
        raise InputError("--claims", f"expected one claim with the id {name:.80}, got {len(own)}")
    if own:
        return own[0]
    if not is_an_id(name):
        expected = "expected the id of a published claim, or of one in a file that --claims names"
        raise InputError("certificate.claim", f"{expected}, got {name!r:.80}")
    return find(name)


def _check(claim: Claim, document: Document, file: str) -> Proof:
    from fedtheory.proofs import check_certificate
    from fedtheory.proofs.document import certificate_in

    with name_file_in_errors(file):
        certificate_in(claim, document)
    return check_certificate(claim, document)


def _require_single(things: list[T], option: str) -> T:
    """Return the only claim; raise `InputError` for any other number of claims."""
    if len(things) != 1:
        raise InputError(option, f"expected one claim, got {len(things)}")
    return things[0]


def _save(proofs: list[Proof], file: str) -> None:
    from fedtheory.proofs.document import text_of

    proof = _require_single(proofs, "--save")
    if proof.document is None:
        raise InputError(proof.claim.id, "has no certificate to save")
    write_text(file, text_of(proof.document), "--save")


def choose_verdict(proof: Proof, printed: list[PrintedStep]) -> str:
    """Return the kernel's verdict on the certificate.

    Without a certificate, the verdict is that of the published proof, if one of its steps fails.
    """
    from verify.published_proofs import find_first_failure

    if proof.verdict == "no certificate" and find_first_failure(printed) is not None:
        return "broken"
    return proof.verdict


def encode_proof(proof: Proof, printed: list[PrintedStep]) -> dict[str, Any]:
    """Return the JSON document of a proof; `steps` are those of the certificate, or else of the published proof."""
    from fedtheory.language.registry import explain_unproved
    from fedtheory.language.typesetting import latex
    from fedtheory.proofs.missing_assumptions import find_missing_assumptions
    from fedtheory.proofs.near_misses import list_near_misses
    from verify.published_proofs import find_first_failure

    failing = find_first_failure(printed)
    as_printed = [
        {"text": f"{step.claim.id}: {step.claim.title}", "holds": step.verdict != "fails", "why": step.why}
        for step in printed
    ]
    certified = [{"text": step.text, "holds": step.holds} for step in proof.steps]
    return {
        "id": proof.claim.id,
        "verdict": choose_verdict(proof, printed),
        "relaxed_conditions": None if proof.relaxed is None else [latex(condition) for condition in proof.relaxed],
        "digest": proof.digest,
        "steps": certified or as_printed,
        "printed_proof": as_printed,
        "first_failing": None if failing is None else failing.claim.id,
        "why_not_proved": explain_unproved(proof.claim),
        "missing_assumptions": list(find_missing_assumptions(proof)),
        **({"near_misses": list(list_near_misses(proof))} if proof.verdict == "broken" else {}),
        **encode_setting(proof.claim),
    }


def print_text(proof: Proof, printed: list[PrintedStep]) -> None:
    """Print a proof for a terminal."""
    from fedtheory.cli.proof_search import WHERE_TO_BEGIN, print_contradiction
    from fedtheory.language.registry import explain_unproved

    reason = explain_unproved(proof.claim) if proof.verdict == "no certificate" else None
    print_lines(
        f"[bold]{proof.claim.id}[/bold]  {_format_text(proof.claim.title)}: {_describe_outcome(proof, printed)}",
        *(f"  {_mark(step.holds)}  {_format_text(step.text)}" for step in proof.steps),
    )
    print_lines(*(f"  {hint}" for hint in _list_hints(proof)))
    print_setting([(proof.claim.id, proof.claim)])
    if proof.verdict == "proved" and not proof.claim.is_published:
        print_contradiction(proof.claim)
    if proof.relaxed is not None:
        weaker = ", ".join(proof.claim.in_words(condition) for condition in proof.relaxed)
        print_lines(f"  a weaker condition suffices: {escape(weaker or 'none')}")
    if reason is not None:
        print_lines(f"  why it is not proved: {escape(reason)}")
    if printed:
        _print_published_proof(printed)
    elif reason is None and proof.verdict == "no certificate":
        print_lines(*WHERE_TO_BEGIN)


def _list_hints(proof: Proof) -> Iterator[str]:
    """Yield assumptions missing from a claim, or changes of a term, that would repair its broken certificate."""
    from fedtheory.proofs.missing_assumptions import find_missing_assumptions
    from fedtheory.proofs.near_misses import list_near_misses

    changes = list_near_misses(proof)
    if changes:
        number = "one change" if len(changes) == 1 else f"{len(changes)} changes"
        yield f"the certificate is accepted with {number}: {escape(', and '.join(changes))}"
    missing = () if changes else find_missing_assumptions(proof)
    if missing:
        needed = " and ".join(f"assumptions.{name}" for name in missing)
        yield f"the certificate gets further if the claim assumes more: add {needed}"


def _describe_outcome(proof: Proof, printed: list[PrintedStep]) -> str:
    """Return the verdict on the certificate, with its digest; without one, the verdict on the published proof."""
    found = choose_verdict(proof, printed)
    if found != proof.verdict:
        return "[bold red]the published proof does not go through[/bold red]"
    # These digits of the digest suffice to identify the certificate.
    return style_verdict(found) + ("" if proof.digest is None else f" by certificate {proof.digest[:16]}")


def _print_table(proofs: list[Proof]) -> None:
    """Print several proofs: for each its verdict, and the first step that fails."""
    failing = [next((step.text for step in proof.steps if not step.holds), "") for proof in proofs]
    rows = [
        [proof.claim.id, style_verdict(proof.verdict), escape(step)]
        for proof, step in zip(proofs, failing, strict=True)
    ]
    print_table("certificates", ["claim", "certificate", "what fails"], rows, whole=("claim", "certificate"))
    broken = [proof for proof in proofs if proof.verdict == "broken"]
    print_lines(*(f"{proof.claim.id}: {hint}" for proof in broken for hint in _list_hints(proof)))
    counts = Counter(proof.verdict for proof in proofs)
    print_lines(", ".join(f"{number} {verdict}" for verdict, number in counts.items()))
    print_setting((proof.claim.id, proof.claim) for proof in proofs)


def _print_published_proof(printed: list[PrintedStep]) -> None:
    """Print the verdict on each step of the published proof, and the first step that fails."""
    from verify.published_proofs import find_first_failure

    lines = [f"  {_MARKS[step.verdict]}  {step.claim.id}  {_format_text(step.claim.title)}" for step in printed]
    failing = find_first_failure(printed)
    print_lines("the published proof, step by step:", *lines)
    if failing is not None:
        print_lines(f"the first step that fails is {failing.claim.id}: {_format_text(failing.why)}")


def _format_text(text: str) -> str:
    """Return a text with formulas, converted for Rich."""
    from fedtheory.cli.unicode_math import unicode_prose

    return escape(unicode_prose(text))


def _mark(holds: bool) -> str:
    """Return the coloured word for a step that holds or fails."""
    return "[green]ok[/green]   " if holds else "[bold red]fails[/bold red]"
