"""The statements in the order of the pages, one module per part; each correction follows the statement it corrects."""

from fedtheory.sources.renard2022.statements import (
    any_point,
    lemma_2_2_noise,
    lemma_2_2_smoothness,
    properties,
    setting,
    theorem,
    tightened,
)

CLAIMS = (
    *setting.CLAIMS,
    *theorem.CLAIMS,
    *tightened.CLAIMS,
    *any_point.CLAIMS,
    *lemma_2_2_smoothness.CLAIMS,
    *lemma_2_2_noise.CLAIMS,
    *properties.CLAIMS,
)
