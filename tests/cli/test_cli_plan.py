"""`fedtheory plan`: the document, the tables, constants and data instead of a run file, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import ROWS, Changes

from fedtheory.runfile import run_toml

THEOREM = "renard2022:thm-2.1"
CONSTANTS = ("L=1", "M=10", "tau=5", "T=100", "D=2", "sigma=1", "zeta=0.5")
KEYS = {
    "id", "title", "applicable", "reason", "conditions", "largest_local_step_size", "largest_server_step_size",
    "largest_local_steps", "bound", "terms", "dominating", "best_step_size", "best_step_size_formula", "bound_at_best",
    "target", "target_at_best", "linear_speed_up_clients", "local_steps_that_pay", "exact",
}  # fmt: skip


def plan_of(document, claim_id: str):
    """Return the plan of one claim in a document."""
    return next(plan for plan in document["claims"] if plan["id"] == claim_id)


def test_document(command, write_run) -> None:
    """One document with the plan of every covering claim; the numbers of one claim agree with `fedtheory check`."""
    path = write_run()
    outcome = command("plan", path, "--source", "renard2022", "--target", "1/2", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    document = outcome.document
    assert all(plan.keys() >= KEYS for plan in document["claims"])
    plan, checked = plan_of(document, THEOREM), command("check", THEOREM, path, "--json").document
    assert plan["applicable"] == checked["applicable"]
    assert [{**condition, "reason": None} for condition in plan["conditions"]] == checked["conditions"]
    assert plan["bound"] == pytest.approx(checked["rhs"])
    assert {term["term"]: pytest.approx(term["value"]) for term in checked["terms"]} == {
        term["term"]: term["value"] for term in plan["terms"]
    }
    assert plan["dominating"] == max(plan["terms"], key=lambda term: term["value"])["term"]
    assert plan["largest_local_step_size"] == 0.125
    assert plan["largest_local_step_size_formula"] == r"\frac{1}{4 L}"
    assert plan["best_step_size"] <= plan["largest_local_step_size"]
    assert plan["bound_at_best"] <= plan["bound"]
    assert plan["target_at_best"]["rounds"] > 0
    assert plan["target_at_best"]["messages"] == 4 * plan["target_at_best"]["rounds"]
    assert plan_of(document, "renard2022:thm-2.1.quiet")["reason"] == "full gradients: the gradients are noisy"
    best = plan_of(document, document["recommended"])
    assert document["exact"] == best["exact"]
    assert best["exact"]["ratio"] == pytest.approx(best["best_step_size"] / best["exact"]["best_step_size"])
    assert best["exact"]["error"] <= best["exact"]["error_at_choice"] <= best["bound_at_best"]


def test_the_comparator(command, write_run) -> None:
    """The plan of a bound with a comparator names the chosen point, also in the output for people."""
    path = write_run()
    document = command("plan", path, "--claim", "comparator:average-error", "--claim", THEOREM, "--json").document
    point = plan_of(document, "comparator:average-error")["comparator"]
    assert 0 <= point["suboptimality"] <= plan_of(document, "comparator:average-error")["bound_at_best"]
    assert point["distance_sq"] > 0
    assert "comparator" not in plan_of(document, THEOREM)
    assert "compares with the point y" in command("plan", path, "--claim", "comparator:average-error").out


def test_the_best_step_size_passes_a_check(command, write_run) -> None:
    """At the recommended step size the claim applies, and its bound is the one of the plan."""
    plan = plan_of(command("plan", write_run(), "--claim", THEOREM, "--json").document, THEOREM)
    tuned = write_run({"algorithm.local_step_size": repr(plan["best_step_size"])}, name="tuned.toml")
    checked = command("check", THEOREM, tuned, "--json").document
    assert checked["applicable"]
    assert checked["holds"]
    assert checked["rhs"] == pytest.approx(plan["bound_at_best"])


def test_an_impossible_target(command, write_run) -> None:
    """An accuracy below the floor gives the reason and the floor."""
    target = plan_of(command("plan", write_run(), "--claim", THEOREM, "--target", "1e-6", "--json").document, THEOREM)[
        "target"
    ]
    assert target["rounds"] is None
    assert target["floor"] > 1e-6
    assert "however many rounds" in target["reason"]


def test_constants(command) -> None:
    """Constants after one --set, after several, or alone have the same meaning; no run is needed."""
    once = command("plan", "--set", *CONSTANTS, "--claim", THEOREM, "--json").document
    each = [part for constant in CONSTANTS for part in ("--set", constant)]
    assert once == command("plan", *each, "--claim", THEOREM, "--json").document
    assert once == command("plan", *CONSTANTS, "--claim", THEOREM, "--json").document
    plan = plan_of(once, THEOREM)
    assert plan["largest_local_step_size"] == 0.25
    assert plan["exact"] is None
    assert once["recommended"] == THEOREM


def test_constants_out_of_range(command) -> None:
    """Counts below one exclude the bounds that use them; zeros of other constants are no error."""
    plan = plan_of(command("plan", "--set", *CONSTANTS, "tau=0", "--json").document, THEOREM)
    assert plan["reason"] == "expected at least 1: local_steps"
    zeros = ("L=0", "M=1", "tau=1", "T=1", "D=0", "sigma=0", "zeta=0")
    assert plan_of(command("plan", *zeros, "--target", "1", "--json").document, THEOREM)["best_step_size"] is None


def test_constants_for_people(command) -> None:
    """Bounds that lack numbers are counted, and the others are shown."""
    outcome = command("plan", "--set", *CONSTANTS)
    assert (outcome.code, outcome.err) == (0, "")
    assert "need numbers that are not given" in " ".join(outcome.out.split())
    assert "renard2022:thm-2.1.sharp" in outcome.out


def test_the_answer_comes_first(command, write_run) -> None:
    """The output is three lines, then one table of the bounds that cover the run; reasons for others are optional."""
    arguments = ("plan", write_run(), "--target", "1/2", "--source", "renard2022")
    outcome = command(*arguments)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("use:", "promised:", "limits:"))] == [
        "use:",
        "promised:",
        "limits:",
    ]
    words = " ".join(outcome.out.split())
    assert words.index("limits:") < words.index("largest step")
    assert "the gradients are noisy" not in words
    assert "--all says why" in words
    everything = " ".join(command(*arguments, "--all").out.split())
    for expected in ("recommended", "largest step size", "exact: best step size", "the gradients are noisy"):
        assert expected in everything


@pytest.mark.long
def test_refuted_bounds_are_named_for_the_papers_that_are_asked(command, write_run) -> None:
    """Refuted bounds are named only for the selected papers."""
    for paper, is_named in (("renard2022", False), ("fraboni2022", True)):
        words = command("plan", write_run(), "--source", paper, "--all").out
        assert ("not used, because they are refuted" in words) == is_named


def test_a_bound_on_another_error_is_reported(command, write_run, tmp_path) -> None:
    """A user-defined claim about drift covers the run, but gives no bound on its error."""
    file = tmp_path / "mine.py"
    file.write_text(
        "import sympy as sp\nfrom fedtheory import Claim\nfrom fedtheory.language import quantities as q\n"
        "eta, tau, zeta, sigma, L = sp.symbols('eta tau zeta sigma L', positive=True)\n"
        "drift = Claim(id='mine:drift', lhs=q.max_drift, rhs=18 * (tau * eta * zeta)**2 + 4 * tau * (eta * sigma)**2,\n"
        "    where={eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity,\n"
        "           sigma: q.noise_deviation, L: q.smoothness}, conditions=[eta <= 1 / (4 * L)])\n"
    )
    words = " ".join(command("plan", write_run(), "--target", "1/2", "--claim", f"{file}:drift").out.split())
    assert "no bound on the error of the run covers it" in words
    assert "as planned mine:drift (user-defined) guarantees max_drift below" in words
    assert "refuted" not in words


def test_the_answer_is_exact(command, write_run) -> None:
    """The rounds of the answer agree with simulations, at its step size and at the planned one."""
    answer = command("plan", write_run(), "--target", "1/2", "--source", "renard2022", "--json").document["answer"]
    assert answer["error"] == "final_suboptimality"
    assert answer["local_steps"] == 5
    for outcome in (answer, answer["planned"]):
        assert outcome["reached"]
        rounds = outcome["rounds"]
        changes = {"algorithm.local_step_size": repr(outcome["step_size"]), "algorithm.rounds": str(rounds)}
        errors = command("simulate", write_run(changes), "--json").document["server"]["suboptimality"]
        assert errors[rounds] == pytest.approx(outcome["exact_error"])
        assert errors[rounds] <= 0.5
        assert all(error > 0.5 for error in errors[:rounds])
    assert answer["rounds"] <= answer["planned"]["rounds"]


def test_the_average_is_another_error(command, write_run) -> None:
    """The average over the run needs more rounds for a target than the last model."""
    path = write_run({"algorithm.rounds": "40"})
    final, average = (
        command("plan", path, "--target", "1/2", "--error", error, "--source", "lecture27", "--json").document["answer"]
        for error in ("final", "average")
    )
    assert average["error"] == "average_suboptimality"
    assert average["planned"]["rounds"] > final["planned"]["rounds"]
    assert "final, average" in command("plan", path, "--error", "best").complaint()


@pytest.mark.long
def test_advice_comes_from_what_applies(command, write_run) -> None:
    """A bound that covers the run takes precedence over one that needs another step size."""
    document = command("plan", write_run(), "--json").document
    by_id = {plan["id"]: plan for plan in document["claims"]}
    assert by_id[document["recommended"]]["applicable"]
    assert by_id[document["answer"]["bound"]["id"]]["best_step_size"] > 0


def test_the_largest_admissible_step_size_is_named(command, write_run) -> None:
    """The largest step size at which a bound would apply is named, with the condition and its numbers."""
    path = write_run({"algorithm.local_step_size": '"3/5"'})
    arguments = ("plan", path, "--claim", THEOREM)
    answer = command(*arguments, "--json").document["answer"]
    assert answer["largest_covered"] == {"id": THEOREM, "step_size": 0.125}
    plan = plan_of(command(*arguments, "--json").document, THEOREM)
    assert not plan["applicable"]
    assert 0 < answer["bound"]["step_size"] <= 0.125
    if not answer["covered"]:
        assert "eta <= 1/(4*L), L = 2" in " ".join(command(*arguments).out.split())


def test_the_largest_step_size_is_covered(command, write_run, data_folder: Path) -> None:
    """The largest step size satisfies assumptions as well, such as that mini-batches stay in a ball."""
    path = data_folder / "batches.toml"
    path.write_text(write_run({"problem.batch": "1"}, base=ROWS).read_text())
    plans = command("plan", path, "--claim", "renard2022:thm-2.1.sharp", "--json").document["claims"]
    largest = plans[0]["largest_local_step_size"]
    for factor, expected in ((1 - 1e-6, True), (1 + 1e-3, False)):
        changes = {"problem.batch": "1", "algorithm.local_step_size": repr(largest * factor)}
        path.write_text(write_run(changes, base=ROWS).read_text())
        checked = command("check", "renard2022:thm-2.1.sharp", path, "--json").document
        assert (checked["applicable"] and all(c["holds"] for c in checked["conditions"])) is expected


def test_unequal_clients_with_equal_shares_are_named(command, data_folder: Path) -> None:
    """The plan of a file names the assumed rounds, local steps, and equal weights of unequal clients."""
    words = " ".join(command("plan", data_folder / "good.csv", "shares=equal", "--source", "lecture27").out.split())
    assert "1 local step, 100 rounds" in words
    assert "clients have 2 to 6 rows and the same weight" in words


def test_data_alone(command, write_run, data_folder) -> None:
    """A data file with a client column is planned like the run file that names it."""
    file = data_folder / "good.npz"
    settings = ("rounds=4", "local_steps=3", "local_step_size=1/100", "intercept=false", "shares=equal")
    alone = command("plan", file, *settings, "--claim", THEOREM, "--json").document
    path = data_folder / "run.toml"
    path.write_text(write_run(base=ROWS).read_text(), encoding="utf-8")
    assert alone == command("plan", path, "--claim", THEOREM, "--json").document


def test_columns_of_a_file_by_name(command, tmp_path: Path) -> None:
    """A csv file with named columns needs no run file; keys of the problem follow its name."""
    rows = "".join(f"{n % 3},{n},{n * n % 7}\n" for n in range(12))
    (tmp_path / "named.csv").write_text("Klinik am See,age,price of stay\n" + rows, encoding="utf-8")
    names = {"target": "price of stay", "client": "Klinik am See", "features": ["age"], "shares": "samples"}
    given = {"kind": "least-squares", "data": "named.csv", "start": "zeros", "intercept": True, **names}
    algorithm = {"local_step_size": "1/100", "local_steps": 3, "rounds": 4}
    (tmp_path / "run.toml").write_text(run_toml({"problem": given, "algorithm": algorithm}), encoding="utf-8")
    keys = ("target=price of stay", "client=Klinik am See", "features=age", "shares=samples", "standardize=auto")
    settings = (*keys, "rounds=4", "local_steps=3", "local_step_size=1/100", "--claim", "lecture27:thm-2.explicit")
    alone = command("plan", tmp_path / "named.csv", *settings, "--json").document
    assert alone == command("plan", tmp_path / "run.toml", *settings[-2:], "--json").document
    assert "no column 'cost'" in command("plan", tmp_path / "named.csv", "target=cost", *keys[1:]).complaint()
    assert "true or false" in command("plan", tmp_path / "named.csv", *keys[:2], "standardize=yes").complaint()


def test_a_claim_of_the_user(command, write_run, tmp_path: Path) -> None:
    """A user-defined bound is planned like the others: a/eta + b eta has its minimum at sqrt(a/b)."""
    (tmp_path / "mine.py").write_text(
        "import sympy as sp\n"
        "from fedtheory import Claim, quantities as q\n"
        'eta, T = sp.symbols("eta T", positive=True)\n'
        "bound = Claim(id='mine:bound', lhs=q.final_suboptimality, rhs=8 / (eta * T) + 4 * eta,\n"
        "              where={eta: q.local_step_size, T: q.rounds})\n"
    )
    document = command(
        "plan", write_run(), "--claim", f"{tmp_path / 'mine.py'}:bound", "--target", "0.5", "--json"
    ).document
    plan = plan_of(document, "mine:bound")
    assert plan["best_step_size"] == pytest.approx(0.5)  # sqrt(2 / T) at 8 rounds
    assert plan["best_step_size_formula"] == r"\frac{\sqrt{2}}{\sqrt{T}}"
    assert plan["largest_local_step_size"] is None
    assert plan["target_at_best"]["rounds"] == 512


def test_map(command, write_run, tmp_path: Path) -> None:
    """The regime map is an SVG file over the two named symbols."""
    target = tmp_path / "map.svg"
    outcome = command("plan", write_run(), "--claim", THEOREM, "--map", "eta,T", "-o", target, "--json")
    assert outcome.document["files"] == [str(target)]
    assert target.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--map", "eta,foo", "-o", "map.svg"), "map: no bound has a symbol or a quantity 'foo'"),
        (("--map", "eta", "-o", "map.svg"), "map: expected two symbols"),
        (
            ("--target", "1 per cent"),
            "target: expected a number such as 0.1, or a percentage of F* such as 1%, got '1 per cent'",
        ),
        (("-o", "nowhere/plan.html"), "nowhere/plan.html: --output: cannot be written: there is no directory nowhere"),
    ],
)
def test_a_missing_output_folder_is_reported_before_the_work(
    command, write_run, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], complaint: str
) -> None:
    """The command refuses a missing output folder before it plans."""
    monkeypatch.setattr("fedtheory.planner.plan", lambda *_given, **_named: pytest.fail("planned"))
    outcome = command("plan", write_run(), *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.err


def test_limits_have_no_rounds(command, write_run) -> None:
    """A bound on the stationary error is not in the table of bounds on a run, and has no number of rounds."""
    path, limit = write_run({"problem.noise": None}), "vlaski2023:claim.steady-state-noise"
    plan = plan_of(command("plan", path, "--claim", limit, "--target", "1", "--json").document, limit)
    assert plan["error"] == "leading_limiting_distance_sq"
    assert plan["target"] is plan["target_at_best"] is None
    assert limit not in command("plan", path, "--source", "vlaski2023", "--target", "1").out


def test_a_promise_nearer_to_the_question(command, write_run) -> None:
    """If the bound at the best step size concerns another error, the best one closer to the wanted error is named."""
    alike = {"problem.hessians": '[[["2"]], [["2"]]]', "problem.linear": '[["1"], ["-1"]]', "problem.start": '["3"]'}
    path = write_run({**alike, "problem.noise": '"1/100"', "algorithm.local_steps": "2", "algorithm.rounds": "2"})
    arguments = ("plan", path, "--claim", "liu2022:thm-1.sharp", "--claim", "comparator:average-error")
    answer = command(*arguments, "--json").document["answer"]
    assert (answer["bound"]["error"], answer["elsewhere"]["error"]) == (
        "average_local_gradient_sq",
        "average_suboptimality",
    )
    assert answer["elsewhere"]["step_size"] < answer["bound"]["step_size"] == answer["step_size"]
    words = " ".join(command(*arguments).out.split())
    assert words.index("thm-1.sharp (proved) guarantees") < words.index("comparator:average-error (proved) guarantees")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "RUN"),
        (("--set", "speed=1"), "speed"),
        (("--set", "L"), "NAME=VALUE"),
        (("--set", "L=much"), "L"),
        (("--set", "L=-1"), "not negative"),
        (("--set", *CONSTANTS, "--target", "0"), "positive"),
        (("--set", *CONSTANTS, "--claim", "renard2022:lemma-2.2"), "bound on the error"),
        (("--set", *CONSTANTS, "--claim", THEOREM, "--map", "eta"), "two symbols"),
        (("--set", *CONSTANTS, "--claim", THEOREM, "--map", "eta,speed"), "speed"),
        (("--set", *CONSTANTS, "-o", "map.svg"), "a page, such as plan.html"),
        (("--set", *CONSTANTS, "--claim", THEOREM, "-o", "no/folder/plan.html"), "cannot be written"),
        (("--source", "nobody"), "source"),
        (("missing.toml",), "missing.toml"),
        (("missing.npz",), "missing.npz"),
        (("one.toml", "two.toml"), "one file"),
    ],
)
def test_bad_arguments(command, arguments: tuple[str, ...], complaint: str) -> None:
    """Each bad argument gives one line."""
    assert complaint in command("plan", *arguments).complaint()


@pytest.mark.parametrize("changes", [{}, {"problem.noise": None}])
def test_run_file_and_constants(command, write_run, changes: Changes) -> None:
    """A run file has its own constants, so that additional ones are rejected."""
    assert "got both" in command("plan", write_run(changes), "--set", "L=1").complaint()


def test_a_limit_promises_nothing_of_a_run(command, write_run) -> None:
    """A bound on the stationary error covers the run, but is not its answer."""
    path = write_run({"problem.linear": '[["1","0"], ["1","0"]]', "problem.noise": '"0"'})
    document = command("plan", path, "--source", "vlaski2023", "--json").document
    settled = {c["id"] for c in document["claims"] if c["applicable"] and "limiting" in (c["error"] or "")}
    assert settled
    promised = document["answer"]["bound"]
    assert promised is None or promised["id"] not in settled


def test_other_settings_by_their_costs(command, write_run) -> None:
    """Costs of other settings are a table for people, and rows for programs; impossible costs are rejected."""
    path = write_run()
    asked = ("plan", path, "--vary", "steps", "--local-cost", "1/10", "--claim", THEOREM)
    document = command(*asked, "--json").document
    rows = document["varied"]
    (planned,) = (row for row in rows if row["planned"])
    assert planned["step_size"] == document["use"]["step_size"]
    assert len({row["local_steps"] for row in rows}) == len(rows) > 3
    words = " ".join(command(*asked).out.split())
    assert "other settings, each at its best step size" in words
    for cost in ("-1", "0"):
        refused = command(*asked, "--aggregation-cost", "0", "--local-cost", cost)
        assert refused.code == 2
        assert "local-cost: expected costs that are not negative" in refused.err
    assert "steps, batch, algorithm" in command("plan", path, "--vary", "speed").err
