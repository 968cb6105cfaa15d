"""The statements in the order of the pages, one module per part; each correction follows the statement it corrects."""

from fedtheory.sources.lecture27.statements import any_point, assumptions, lemmas, setting, theorem_1, theorem_2

CLAIMS = (
    *setting.CLAIMS,
    *assumptions.CLAIMS,
    *theorem_1.CLAIMS,
    *lemmas.CLAIMS,
    *theorem_2.CLAIMS,
    *any_point.CLAIMS,
)
