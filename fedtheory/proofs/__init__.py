"""Proofs as certificates: how a claim is brought before the kernel.

What a claim may be proved by:

certificate    for each link one identity, or one of
                 induction   over the local steps of a round
                 squares     of an inequality between lengths
                 products    of facts, for relations between quotients
                 past        sums over the local steps up to the present one
means          means over the local steps of a round or a run
contraction    from a step that contracts to the last model, or to a discounted mean
last_rounds    from such a step to the last round of a long run
recursion      bounds on the drift, step by step
restarts       the printed loop over iterations with restarts: its drift, and means over its iterations
combination    sums of proved claims about a run, and of what follows from them (derived_relation)
roots          symbols for square roots of numbers, in certificates and combinations
lyapunov       from a function of an algorithm's vectors that shrinks in every round to the last one; cases of a maximum
terms          certificates as proof terms of one language, checked by the kernel
at_optimum     proofs that an algorithm stays at the optimum, from its definition (definitions)

recorded       which certificate a paper has for a claim
document       certificates as JSON: whatever is checked has been one
closed         what certificates are made of: whatever is checked is rebuilt from these
examination    the way from a claim and its certificate to the kernel verdict

What the kernel may use, from a claim's assumptions: context, rounds for statements about one round, and small_steps
for the point to which runs tend.  What people are shown: outline with its entries and outline_steps, rule_labels,
proof_report, and printed for the proofs of the sources.

Uses `language`, `runfile`, `federation`, `kernel`.
"""

from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.checker import check_certificate, prove
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.recorded import certificate_of, certificates
from fedtheory.proofs.recursion import Recursion

__all__ = [
    "AnyCertificate",
    "Certificate",
    "Combination",
    "MeanCertificate",
    "Part",
    "Proof",
    "Recursion",
    "build_context",
    "certificate_of",
    "certificates",
    "check_certificate",
    "prove",
]
