"""The search: single levels, a covering design, then ascents from the worst runs of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product, zip_longest
from random import Random

from fedtheory.language.claim import Claim
from verify.effort import measure_work
from verify.falsify.regimes.climb import LevelClimb
from verify.falsify.regimes.coverage import Pairs, Regime, list_regimes
from verify.falsify.regimes.covering_design import Design
from verify.falsify.regimes.evaluation import Evaluation, Seen, rate_run
from verify.falsify.regimes.factors import BASE, HALF_OF_MANY, Level, Point, restrict_counts
from verify.falsify.regimes.violations import SETTLED, Violations
from verify.falsify.run_tables import CheckedRun, Table
from verify.falsify.score import NOTHING

_ROWS = 0.4
"""Fraction of the evaluations for the design."""
_CLIMBS = 15
"""Approximate number of starting points among which the evaluations of ascents are divided."""
_FEW_STEPS = (0, 1)
"""Local steps of gradient descent on other losses, as powers of two."""
_SHORTEST = 160
"""Least number of evaluations for which an ascent is started."""
_WORK = 1 / 75
"""Seconds of work per evaluation, twice the usual; expensive evaluations reduce their number."""
_DECIDING = 1 / 300
"""Seconds of work per evaluation for exact checks of float violations, half the cost of evaluations."""
_BEFORE_CLIMBS = 0.6
"""Fraction of this work that may be spent before ascents begin."""
_ALWAYS = ("gradients", "noise", "noisy clients", "horizon", "step size")
"""Factors whose levels are applicable wherever the base point is."""
_SEVERAL = ("weights", "participation", "local work", "aggregation", "clock", "curvatures", "unlike gradients")
"""Factors without effect for one client."""
_VALLEYS = (
    "weights",
    "server step size",
    "participation",
    "local work",
    "clock",
    "aggregation",
    "curvatures",
    "loss",
    "negative curvature",
)
"""Factors for each of whose levels an ascent is made."""
_SETTINGS = _VALLEYS[:6]
"""Factors of a setting."""
_OF_SETTINGS = 0.25
"""Additional evaluations for settings, as a fraction of all others."""
_ALONE = ("n", "p")
"""Sources of error that act alone, without a distant start."""
_SETTLING: Point = {"clients": 3.32, "conditioning": -1, "local steps": 1, "horizon": ("mu", 5)}
"""Levels of a run that settles, where a claim allows them."""
_MANY_CLIENTS = 5
"""Exponent of the clients of which half participate: powers of their numbers are several times as large as these."""
_OBJECTIVES = ("loss", "negative curvature")
"""Factors of the objectives, for which only a distant start matters."""
_FITTED = ("horizon", "step size")
"""Factors whose levels an assumption of the claim may restrict."""
_APART = 0.01
"""Difference from which two scores of a run count as different."""
_RANKED = 12
"""Number of runs of each set of sources of error whose progress is computed."""


@dataclass(frozen=True)
class Search:
    """Result of a search."""

    evaluations: int
    applicable: int
    """Number of evaluations at which the claim applied."""
    counterexample: CheckedRun | None
    """The run file of a violation with its rigorous check."""
    best: Table | None
    """The run with the largest score on which the claim holds, in floats."""
    regimes: tuple[Regime, ...]
    left_open: int
    """Number of runs that violate the claim in floats and that no exact check decides."""
    pairs: Pairs

    @property
    def largest_ratio(self) -> float | None:
        """Return the largest ratio of the sides, in floats, over all runs on which the claim holds."""
        return max((one.largest_ratio for one in self.regimes if one.largest_ratio is not None), default=None)


def _rank_by_ratio(seen: Seen) -> float:
    return -rate_run(seen)


def _does_move_without_start(seen: Seen) -> bool:
    """Return whether the run on quadratics moves because of noise or different gradients, not because of its start."""
    return seen.applies and seen.score > SETTLED + 1 and "s" not in seen.point["sources"] and not seen.point["loss"]


def _balance(seen: Seen) -> float:
    """Return the balanced score; minus infinity for runs from which no ascent is useful."""
    return seen.balanced if seen.score > SETTLED else seen.score


class _Over(Exception):
    """Raised when a violation is confirmed, or all evaluations are used."""


def search_regimes(claim: Claim, evaluations: int, seed: int = 0, on_tick: Callable[[], None] = lambda: None) -> Search:
    """Search for a violation of a claim with at most so many evaluations in floats, in an order set by the seed.

    Ascents from settings have a quarter as many in addition. `on_tick` is called after each evaluation. Rates are not
    searched, because they need ladders of runs.
    """
    return _Searching(claim, evaluations, seed, on_tick).search()


class _Searching:
    """The state of one search."""

    def __init__(self, claim: Claim, evaluations: int, seed: int, on_tick: Callable[[], None]) -> None:
        self._claim, self._most, self._on_tick = claim, evaluations, on_tick
        self._seed, self._random = seed, Random(seed)
        self._evaluation = Evaluation(claim)
        self._end = measure_work() + _WORK * evaluations
        self._violations = Violations(claim, _DECIDING * evaluations, self._look)
        self._pairs: Callable[[], Pairs] = Pairs
        self._known_levels: Mapping[str, Sequence[Level]] = {}
        self._base: dict[str, Level] | None = None

    def search(self) -> Search:
        """Run all stages, or stop when a violation is confirmed."""
        with suppress(_Over):
            self._go()
        with suppress(_Over):
            self._climb_settings()
        self._violations.decide_open(1)
        seen = list(self._evaluation.known.values())
        standing = [one for one in seen if one.applies and one.holds and one.score > NOTHING]
        best = max(standing, key=lambda one: one.score, default=None)
        return Search(
            self._evaluation.count,
            sum(one.applies for one in seen),
            self._violations.found,
            None if best is None else best.table,
            list_regimes(self._evaluation.factors, seen),
            self._violations.left_open,
            self._pairs(),
        )

    def _go(self) -> None:
        base = self._base = self._find_base()
        if base is None:
            return
        levels = self._known_levels = self._find_levels(base)
        for _ in self._try_design(base, levels, int(_ROWS * self._most)):
            pass
        self._look_at_descent(base, levels)
        self._violations.decide_open(_BEFORE_CLIMBS)
        self._end_with_a_violation()
        self._climb(levels)

    def _look(self, point: Point) -> Seen:
        """Evaluate a point, and decide a float violation exactly; raises `_Over` at the end of the search."""
        is_over = self._evaluation.count >= self._most or measure_work() > self._end
        if is_over and not self._violations.is_deciding:
            raise _Over
        seen = self._evaluation.score(point)
        self._on_tick()
        if not seen.holds:
            (self._violations.meet_unclear if seen.holds is None else self._violations.meet)(seen)
            self._end_with_a_violation()
        return seen

    def _end_with_a_violation(self) -> None:
        if self._violations.found is not None:
            raise _Over

    def _find_base(self) -> dict[str, Level] | None:
        """Return a normal point to which the claim applies; None if there is none."""
        factors = self._evaluation.factors
        start = {
            **BASE,
            **{
                name: factor.levels[min(1, len(factor.levels) - 1)]
                for name, factor in factors.items()
                if name not in BASE or (name in _FITTED and BASE[name] not in factor.levels)
            },
        }
        special = {} if start["horizon"] == BASE["horizon"] else {"horizon": (start["horizon"],)}
        restricted = {**special, **restrict_counts(self._evaluation.claim)}
        return next((point for point in _list_tame_points(start, restricted) if self._look(point).applies), None)

    def _find_levels(self, base: Point) -> dict[str, list[Level]]:
        """Return the levels at which the claim may apply, each tried alone from several base points."""
        around = list(_list_tame_bases(base))
        return {
            name: [
                level
                for level in factor.levels
                if level == base[name] or name in _ALWAYS or self._may_apply(name, level, around)
            ]
            for name, factor in self._evaluation.factors.items()
        }

    def _may_apply(self, name: str, level: Level, around: Sequence[Point]) -> bool:
        several = [point for point in around if name not in _SEVERAL or point["clients"] > 0]
        return any(self._look({**point, name: level}).applies for point in several)

    def _try_design(self, base: Point, levels: Mapping[str, Sequence[Level]], most: int) -> Iterator[Seen]:
        design = Design(self._evaluation.factors, levels, self._seed)
        self._pairs = lambda: Pairs(len(design.covered), len(design.all_pairs), design.given_up)
        for row in design.rows(most):
            seen = self._look({**base, **row})
            design.count(row, seen.applies)
            yield seen

    def _look_at_descent(self, base: Point, levels: Mapping[str, Sequence[Level]]) -> None:
        """Try gradient descent of one client with the largest step size on each loss.

        The worst function is Huber's loss whose minimum the last step reaches (Drori and Teboulle 2014).
        """
        alone = {**base, "sources": "s", "clients": 0, "step size": 0}
        for loss, horizon, steps in product(levels["loss"], levels["horizon"], _FEW_STEPS):
            if loss is not None and horizon[0] == "T":
                at_steps = {"local steps": steps} if "local steps" in base else {}
                self._look({**alone, "loss": loss, "horizon": horizon, **at_steps})

    def _climb(self, levels: Mapping[str, Sequence[Level]]) -> None:
        by_ratio = LevelClimb(self._evaluation, levels, self._random, self._look, rate_run)
        by_progress = LevelClimb(self._evaluation, levels, self._random, self._look, self._progress)
        by_balance = LevelClimb(self._evaluation, levels, self._random, self._look, _balance)
        without_start, with_start, special = self._choose_starts(levels)
        ascents = [(by_balance, start) for start in self._list_subtracting()]
        ascents += [(by_ratio, start) for start in without_start]
        ascents += [(by_progress, start) for start in self._list_promising()]
        ascents += [(by_ratio, start) for start in _alternate(special, with_start)]
        left = self._most - self._evaluation.count
        each = max(_SHORTEST, left // max(1, min(len(ascents), _CLIMBS)))
        for climb, start in ascents:
            left = self._most - self._evaluation.count
            if left <= 0:
                break
            climb.climb_from(start, min(each, left))

    def _climb_settings(self) -> None:
        """Make ascents on quadratics that start at the optimum, from each level of a setting and from the best point.

        Joint changes of a setting, such as many clients and one heavy weight, are not found one by one, and other
        losses hide the effect of local steps, so both have their own evaluations. An ascent keeps its setting: without
        it, one client often has the next larger ratio, where a setting has no effect.
        """
        self._end_with_a_violation()
        more = int(_OF_SETTINGS * self._most)
        self._most, self._end = self._evaluation.count + more, measure_work() + _WORK * more
        normal = self._look_at_normal_settings()
        without_start, _, _ = self._choose_starts(self._known_levels)
        pool = [seen for seen in self._evaluation.known.values() if _does_move_without_start(seen)]
        settings = list(
            self._search_levels(self._known_levels, sorted(pool, key=_rank_by_ratio), without_start, _SETTINGS)
        )
        for start in _alternate(settings, [*normal, *without_start]):
            named = [name for name in _SETTINGS if name in start.point and start.point[name] is not None]
            kept = ("sources", "loss", *named)
            climb = LevelClimb(self._evaluation, self._known_levels, self._random, self._look, rate_run, kept=kept)
            climb.climb_from(start, _SHORTEST)

    def _look_at_normal_settings(self) -> list[Seen]:
        """Try runs that settle with one source of error, in the normal setting and in each other; return the former.

        The design may combine a setting with a distant start or another loss only, and the runs with the largest ratio
        need not be those from which an ascent leads furthest.
        """
        if self._base is None:
            return []
        levels = self._known_levels
        found = []
        for sources in _ALONE:
            settled = {**self._base, "sources": sources, **_select_allowed(_SETTLING, levels)}
            # Clients of one type have equal curvatures.
            alike = {**settled, "curvatures": "alike"}
            first = next((seen for seen in map(self._look, (settled, alike)) if seen.applies), None)
            if first is None:
                continue
            found.append(first)
            for name in _SETTINGS:
                for level in levels.get(name, ()):
                    self._look({**first.point, name: level})
            if "half" in levels.get("participation", ()):
                self._look({**first.point, "participation": HALF_OF_MANY, "clients": _MANY_CLIENTS})
        return [seen for seen in found if _does_move_without_start(seen)]

    def _list_promising(self) -> Iterator[Seen]:
        """Yield, for each set of sources with a start, the run with the least decrease relative to the bound's."""
        pool = [seen for seen in self._evaluation.known.values() if seen.applies and "s" in seen.point["sources"]]
        for sources in dict.fromkeys(seen.point["sources"] for seen in pool):
            of_kind = [seen for seen in pool if seen.point["sources"] == sources and seen.score > SETTLED + 1]
            ranked = sorted(of_kind, key=lambda seen: -rate_run(seen))[:_RANKED]
            best = max(ranked, key=self._progress, default=None)
            if best is not None and self._progress(best) > SETTLED:
                yield best

    def _progress(self, seen: Seen) -> float:
        return self._evaluation.progress(seen, self._look)

    def _list_subtracting(self) -> Iterator[Seen]:
        """Yield the best runs without a start by the balanced score, if it differs from the score."""
        pool = [seen for seen in self._evaluation.known.values() if seen.applies and seen.point["loss"] is None]
        for sources in ("n", "p", "np"):
            of_kind = [seen for seen in pool if seen.point["sources"] == sources and seen.score > SETTLED + 1]
            best = max(of_kind, key=_balance, default=None)
            if best is not None and best.balanced > best.score + _APART:
                yield best

    def _choose_starts(self, levels: Mapping[str, Sequence[Level]]) -> tuple[list[Seen], list[Seen], list[Seen]]:
        """Return the best run of each set of sources without and with a start, and of each level of a setting.

        The term of the start is tight nearly everywhere, so runs with nothing else would hide the others.
        """
        pool = [seen for seen in self._evaluation.known.values() if seen.applies and seen.score > SETTLED + 1]
        pool.sort(key=_rank_by_ratio)
        firsts: dict[str, Seen] = {}
        for seen in pool:
            if seen.point["loss"] is None:
                firsts.setdefault(seen.point["sources"], seen)
        special = sorted(self._search_levels(levels, pool, list(firsts.values()), _VALLEYS), key=_rank_by_ratio)
        without = [seen for sources, seen in firsts.items() if "s" not in sources]
        without += [other for seen in without if (other := _find_unlike(seen, pool)) is not None]
        without += [other for seen in without if (other := _search_one_round(seen, pool)) is not None]
        return without, [seen for sources, seen in firsts.items() if "s" in sources], special

    def _search_levels(
        self, levels: Mapping[str, Sequence[Level]], pool: Sequence[Seen], taken: Sequence[Seen], valleys: Sequence[str]
    ) -> Iterator[Seen]:
        known = {id(seen) for seen in taken}
        own = [factor.name for factor in self._evaluation.subject.factors]
        for name in (*valleys, *own):
            for level in levels.get(name, ()):
                factor = self._evaluation.factors[name]
                if factor.has_plain and level == factor.plain:
                    continue
                is_enough = name in _OBJECTIVES
                fitting = (s for s in pool if s.point[name] == level and (is_enough or s.point["sources"] != "s"))
                best = next((seen for seen in fitting if id(seen) not in known), None)
                if best is not None:
                    known.add(id(best))
                    yield best


_TAME: Mapping[str, Sequence[Level]] = {
    "sources": ("snp", "sp", "s", "sn"),
    "clients": (1, 0),
    "local steps": (1, 0),
    "curvatures": ("alternate", "alike"),
    "horizon": (BASE["horizon"], ("T", 7)),
    "participation": (None, "one", "multinomial"),
    "clock": (None, "one slow", "fixed intervals", "equal times"),
    "local work": (None, "unequal", "normalised"),
    "aggregation": (None, "time-based", "identical"),
}
_OF_PROBLEM = 4
"""Factors of the problem and the counts, not of a setting."""


def _select_allowed(wanted: Point, levels: Mapping[str, Sequence[Level]]) -> dict[str, Level]:
    """Return the wanted levels of factors that a claim leaves free, which have several levels."""
    return {name: level for name, level in wanted.items() if len(levels.get(name, ())) > 1}


def _list_tame_points(start: Point, restricted: Mapping[str, Sequence[Level]]) -> Iterator[dict[str, Level]]:
    """Yield points close to a normal one: first with other problems and counts, then also with other settings.

    `restricted` are the levels that conditions leave to some factors.
    """
    tame = {**_TAME, **restricted}
    choices = product(*(enumerate(levels) for levels in tame.values()))

    def distance(levels: tuple[tuple[int, Level], ...]) -> tuple[int, int]:
        places = [place for place, _ in levels]
        return sum(place > 0 for place in places[_OF_PROBLEM:]), sum(places)

    for chosen in sorted(choices, key=distance):
        yield {**start, **{name: level for name, (_, level) in zip(tame, chosen, strict=True)}}


def _find_unlike(seen: Seen, pool: Sequence[Seen]) -> Seen | None:
    """Return the best run with the same sources of error and other curvatures; None without one."""
    same = (one for one in pool if one.point["sources"] == seen.point["sources"] and one.point["loss"] is None)
    return next((one for one in same if one.point["curvatures"] != seen.point["curvatures"]), None)


def _search_one_round(seen: Seen, pool: Sequence[Seen]) -> Seen | None:
    """Return the best run of one round with the same sources of error, which longer runs may hide."""
    same = (one for one in pool if one.point["sources"] == seen.point["sources"] and one.point["loss"] is None)
    best = next((one for one in same if one.point["horizon"] == ("T", 0)), None)
    return None if best is seen else best


def _alternate(first: Sequence[Seen], second: Sequence[Seen]) -> Iterator[Seen]:
    """Yield the entries of two lists in turn, then the rest of the longer one."""
    return (seen for pair in zip_longest(first, second) for seen in pair if seen is not None)


def _list_tame_bases(base: Point) -> Iterator[dict[str, Level]]:
    """Yield the base point and less extreme ones; a level is dropped only if none of them allows it."""
    quiet = base["sources"].replace("p", "") or "s"
    yield dict(base)
    # If a claim needs an enumeration of all samples, only few clients have noise.
    yield {**base, "sources": base["sources"].replace("n", "") or "s"}
    yield {**base, "clients": 0}
    yield {**base, "curvatures": "alike", "sources": quiet}
    yield {**base, "clients": 1, "curvatures": "alike", "sources": quiet}
    yield {**base, "clients": 2, "local steps": 0}
    if base["clients"] == 0:
        yield {**base, "clients": 1, "curvatures": "diagonal", "sources": quiet}
