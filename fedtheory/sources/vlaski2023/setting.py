"""Default settings that the chapter's quantities lift."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.setting import Lifted, list_removals

LIFTED: Lifted = {a.same_local_work: list_removals(q.small_step_bias)}
