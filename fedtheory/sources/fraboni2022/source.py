"""The paper as a source: statements, steps of published proofs, unproved claims, sentences that are not encoded."""

from fedtheory.language.source import Source
from fedtheory.sources.fraboni2022.statements import CLAIMS

PRINTED_PROOFS = {
    "lemma-2": "eq-7 eq-8 lemma-1 lemma-2.eq-57-58 lemma-2.eq-59 lemma-2.eq-60",
    "lemma-3.phi": "lemma-3.eq-63 lemma-3.eq-64-66 lemma-3.eq-67-68 lemma-3.eq-69 lemma-3.eq-70-71",
    "lemma-3.S": "lemma-3.eq-63 lemma-3.eq-64-66 lemma-3.eq-67-68 lemma-3.eq-69 lemma-3.eq-70-71",
    "lemma-4": "lemma-4.proof",
    "lemma-5": "lemma-5.steps",
    "lemma-6": "lemma-1 lemma-6.steps eq-85",
    "thm-1": """
        lemma-2 lemma-3.phi lemma-3.S lemma-4 lemma-5 lemma-6 thm-1.proof-86-90.86 thm-1.proof-86-90.87
        thm-1.proof-86-90.88 thm-1.proof-86-90.89 thm-1.proof-86-90.90 eq-91 eq-92 eq-93 eq-95-96 eq-94
        A5.conditions A5.conditions.alpha eq-97 eq-98 A5.conditions.listed
    """,
    "lemma-7": "lemma-7.eq-100-102 lemma-7.steps",
    "thm-2": "lemma-7 eq-104 eq-105",
    "thm-3.loss": "eq-23 eq-24 eq-25 thm-3.proof",
    "thm-3.gradient": "thm-3.loss lemma-7 eq-104 eq-105",
}
"""Steps of each published proof, in order: the ids of their statements."""

UNPROVED = {
    "the lemmas are proved for random weights and smooth samples, with other constants; for given weights and noise "
    "that does not depend on the model each of them would have to be proved again": """
        eq-93.fixed thm-1.fixed thm-1.explicit.fixed thm-1.explicit.reporting thm-2.fixed cor-1.fixed cor-1.iid.bound
        thm-3.loss.fixed thm-3.gradient.fixed sampling.unbiased.bound.fixed
    """,
    "the kernel has no recursion from update to update of clients that take turns": """
        example-1 example-1.recursion example-2.fixed example-2.mean example-2.iff.fixed fig-4.F0.sync
    """,
    "contexts of updates contain facts on expectations, none on single paths or on consecutive local steps": """
        eq-7 eq-8 lemma-3.eq-63.fixed eq-24 eq-6.generalises
    """,
    "no fact states that a sum over earlier local steps is zero at the first step": ("thm-1.claim-epsK.fixed"),
    "no context contains the clients' gradients at the optimum of another problem": """
        eq-11.claim eq-32.variance.fixed eq-95-96.fixed sampling.biased sampling.biased.gap claim.proportional.fixed
        eq-32.identical
    """,
    "contexts of updates contain no bound on the variance of the noise, only that it is unbiased": (
        "centralized.variance"
    ),
    "there is no certificate yet for a local step of one client, and for its sum over the steps of all rounds": (
        "centralized"
    ),
    "the proof divides by sum_i tau_i p_i, and the kernel cannot divide by a sum over clients": "eq-36.proportional",
    "the kernel has a symbol for the number of a client's updates, none for which updates they are": (
        "assumption-6.delay assumption-6.delay.any"
    ),
    "the kernel has no symbol for whether a type of clients has positive weight in an update": """
        thm-2.claims.fixed thm-2.claims.P.fixed thm-2.claims.missing thm-2.claims.missing.converse
    """,
    "no fact compares the weights or the shares of single updates with those over all updates": """
        thm-1.claim-R.same claim.W1.equivalent
    """,
    "no fact gives the shares of single clients from those of their types, or the other way round": """
        cor-1.noniid.required cor-1.noniid.sufficient thm-3.condition.types
    """,
    "no fact bounds how often a client reports in a given time": "thm-1.claim-delay",
    "no context contains sums over clients with the weights of types, or with the weights of several updates": (
        "eq-10 eq-12"
    ),
    "the sum of a client's weights over a window has a symbol only within other sums": "eq-25.weights",
    "the claim covers every law of sampling, and the contexts contain two of them": """
        sampling.unbiased.alpha.fixed sampling.unbiased.fixed
    """,
    "no fact gives the expected weight of a single client": "sampling.unbiased.weights",
    "no fact bounds a number that is rounded up from above": """
        fedfix.regimes.fixed fedfix.regimes.client fedfix.regimes.synchronous fedfix.regimes.short eq-42.ordering.fixed
    """,
    "a context contains one run, and the claim compares two": """
        eq-42.ordering.errors.fixed eq-42.ordering.errors.asynchronous.fixed
    """,
    "the kernel has no symbol for the probability of an exponential time": "hardware.fixed",
    "no fact gives the weight of a type of clients, or the probability that a client is sampled": (
        "cor-1.one-client participation.weights"
    ),
    "no fact gives the number of reports in an update of a buffer, or the weights of an update without clients": (
        "fedbuff.staleness assumption-5.schedules sampling.deterministic"
    ),
    "no context of a local step contains sums over clients of vectors with the weights of an update": (
        "lemma-1.eq-54 lemma-7.eq-100-102"
    ),
    "the time average of past moves has a symbol only within other averages": "eq-85",
}
"""Reasons why claims that are supported are not proved."""

NOT_ENCODED = {
    "Below Theorem 1: $K\\tau$ quantifies the largest amount of SGD that $\\theta^n$ integrates.": (
        "it says in words what the product counts.  That no contribution is older than $\\tau$ updates, of K local "
        "steps each, is Assumption 4."
    ),
    "Section 4.4: the interval $\\Delta t$ may grow from window to window, to come closer to synchronous learning.": (
        "a run has one interval, and no clock changes it between windows."
    ),
    "Section 4.5: closed forms for a learning rate $\\eta_l(i)$ or a number $K(i)$ of local steps of each client.": (
        "the paper says that they could be derived, and gives no formula."
    ),
    "Section 4.5: the proof of Theorem 1 can account for regularisation, other solvers and compression.": (
        "it names other papers, and states no bound."
    ),
    "Table 3: notation.": "its entries name symbols of other claims; that of $\\rho$ is the claim table-3.",
    "Section 5: CIFAR-10 with a convolutional network, and Shakespeare with an LSTM.": (
        "their losses are not convex and have no exact expectations.  The findings are tested on least squares for the "
        "digits of scikit-learn."
    ),
    "Section 5.1: mean and deviation over five random seeds of the training.": (
        "expectations over the training are exact here; five seeds of the data split take their place."
    ),
}
"""Sentences without a claim, with reasons."""

_TITLE = "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates"
_AUTHORS = "Y. Fraboni, R. Vidal, L. Kameni and M. Lorenzi"
SOURCE = Source(
    "fraboni2022",
    _TITLE,
    _AUTHORS,
    2022,
    CLAIMS,
    PRINTED_PROOFS,
    UNPROVED,
    main="thm-1",
    reading=5,
    not_encoded=NOT_ENCODED,
)
