"""Theorem 1, Lemma 1 and Corollary 2 for the loop over t as in the slides.

The slides call the loop equivalent to FedAvg.  It is not, but these statements
hold for its iterates as well: (2) holds in every iteration, and a client has
taken at most K steps since all clients were at one point.
"""

from __future__ import annotations

from fedtheory.sources.liu2022.statements.corollary_2 import TUNED, speedup_bound, step_bound
from fedtheory.sources.liu2022.statements.notation import *

ALONG_THE_LOOP = {G: G_loop, sigma: sigma_loop}
"""The published constants, for the iterates of the loop."""
_CONSTANTS = (
    "G and sigma are those at the iterates of the loop, the smallest for which the proof works: on every region that "
    "contains these iterates the printed constants are at least as large."
)

CLAIMS = [
    claim.proved.bound("lemma-1.loop", "Lemma 1 for the loop as printed", "Lemma 1, for the code of slide 18")(
        chain=(loop_drift, "<=", drift_bound.subs(ALONG_THE_LOOP)),
        assumptions=ASSUMPTIONS,
        note=(
            "In an iteration with $t\\bmod K=0$ all clients step from their average, each with a gradient of "
            "its own iterate.  From then on $x_i^t=\\bar y-s\\sum_\\tau g_i^\\tau$, (5), has at most K gradients, and "
            f"the proof of Lemma 1 uses no more.  {_CONSTANTS}"
        ),
    ),
    claim.proved.bound("thm-1.loop", "Theorem 1 for the loop as printed", "Theorem 1, for the code of slide 18")(
        chain=(loop_error, "<=", theorem_bound.subs(ALONG_THE_LOOP)),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note=(
            "By the printed proof.  A restart does not move the average, so that (2) is "
            "$\\bar x^t=\\bar x^{t-1}-\\frac sN\\sum_ig_i^t$ in every iteration, with gradients at the clients' own "
            f"iterates; (3), (4), (7) and (8) follow as for FedAvg, by Lemma 1 for the loop.  {_CONSTANTS}"
        ),
    ),
    claim.proved.bound(
        "cor-2.loop.step", "Corollary 2 for the loop as printed", "Corollary 2, for the code of slide 18"
    )(
        chain=(loop_error, "<=", step_bound.subs(ALONG_THE_LOOP)),
        assumptions=TUNED,
        conditions=[SMALL_STEP],
        note="Theorem 1 for the loop, at the step size of the corollary.",
    ),
    claim.proved.bound(
        "cor-2.loop",
        "Corollary 2 for the loop as printed, the limit on local steps",
        "Corollary 2, for the code of slide 18",
    )(
        chain=(loop_error, "<=", speedup_bound.subs(ALONG_THE_LOOP)),
        assumptions=TUNED,
        conditions=[SMALL_STEP, FEW_LOCAL_STEPS],
        note="$4NK^2/T\\le4/\\sqrt{NT}$ for $K^4N^3\\le T$, in the corollary for the loop at every K.",
    ),
]
