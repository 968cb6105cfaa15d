"""Signs of the slides' quantities; as much trusted as the kernel is."""

from __future__ import annotations

from fedtheory.language import quantities as q
from fedtheory.language.signs import Signs

SIGNS = Signs(nonnegative=(q.loop_second_moment, q.loop_noise_deviation))
