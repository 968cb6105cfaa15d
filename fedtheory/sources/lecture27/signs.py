"""Signs of the quantities of the notes; trusted like the kernel."""

from __future__ import annotations

from fedtheory.language import quantities as q
from fedtheory.language.signs import Signs

_GAPS = (
    q.interval_start_gap,
    q.interval_end_gap,
    q.next_interval_start_gap,
    q.last_interval_gap,
    q.smallest_gap,
)
SIGNS = Signs(
    positive=(q.nearest_start,),
    nonnegative_of_clients=(q.client_dissimilarity,),
    gaps=_GAPS,
    divided_by=_GAPS,
)
