"""Default settings that the chapter's quantities lift."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.setting import Lifted, lifted

LIFTED: Lifted = {a.same_local_work: lifted(q.small_step_bias)}
