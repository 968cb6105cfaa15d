"""Certificates: translates claims and their certificates into goals for the kernel, and checks them.

Kinds of proofs:

certificate    sums of named inequalities for each relation, or one of
                 induction   over the local steps of a round
                 squares     of an inequality between norms
                 products    of facts, for relations between quotients
                 prefix_sum  sums over the local steps up to the present one
means          time averages over the local steps of a round or a run
contraction    from a contracting step to the last iterate
recursion      bounds on the drift, step by step
combination    sums of proved claims about a run, and of their consequences (derived_relation)
roots          symbols for square roots of numbers, in certificates and combinations
lyapunov       from a function of an algorithm's vectors that contracts in every round; cases of a maximum
terms          certificates as proof terms of one language, checked by the kernel
fixed_point    proofs that an algorithm stays at the optimum, from its definition (definitions)
examined       kinds with checks of their own, and those that papers add in their folders ``context``

certificates_of_papers
               the certificates that papers have for their claims
document       certificates as JSON: every certificate is converted to a document before it is checked
decoding       the closed list of what certificates contain: they are rebuilt from it before they are checked
checker        from a claim and its certificate to the kernel verdict

The context of a claim for the kernel: claim_context, and rounds for statements about one round.  Papers
extend it, by paper_contexts.  Presentation: outline with its entries and outline_steps, rule_labels,
proof_report, and published_proofs for the steps of published proofs.

Uses `language`, `runfile`, `federation`, `kernel`.
"""

from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.certificates_of_papers import certificate_of, certificates
from fedtheory.proofs.checker import check_certificate, prove
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.decoding import AnyCertificate
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.proofs.proof import Proof
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
