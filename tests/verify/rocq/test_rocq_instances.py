"""Main theorems are applied to runs of two clients, so that their hypotheses can hold together."""

from __future__ import annotations

from pathlib import Path

import pytest
from rocq_judge import accepts

from verify.rocq.accepted import load_accepted
from verify.rocq.library_parts import list_instances, read_library
from verify.rocq.project import find_instantiated, read_instances, write_project

NOISY = {"CoinRuns", "AlikeInstance", "NoisyStaleInstance", "NoisySampledInstance"}
QUIET = {"LipschitzInstance", "ScheduleInstance"}
THEOREMS = {entry.theorem: entry.id for entry in load_accepted().values()}
FILES = read_instances(THEOREMS.keys())
INSTANCES = {path: THEOREMS[find_instantiated(text)] for path, text in FILES.items()}


def test_instances_are_of_accepted_theorems() -> None:
    """Each file applies the theorem of a claim of its source to a run of the library, and admits nothing.

    The run has noise, but for a theorem on full gradients.
    """
    assert {claim_id.partition(":")[0] for claim_id in INSTANCES.values()} >= {
        "comparator",
        "fraboni2022",
        "landmarks",
        "lecture27",
        "liu2022",
        "renard2022",
        "vlaski2023",
    }
    for path, text in FILES.items():
        source = INSTANCES[path].partition(":")[0]
        assert path.startswith(f"instances/{source}_")
        assert f"Definition {Path(path).stem} :=\n  {find_instantiated(text)} " in text
        kinds = QUIET if source == "lecture27" else NOISY
        assert kinds <= {*list_instances()}
        assert any(file in text for file in kinds)
        assert "Admitted" not in text


def test_a_project_has_the_instances_of_its_theorems(tmp_path: Path) -> None:
    """A project contains the instances of its theorems, which are compiled with the other files."""
    write_project(tmp_path, ["renard2022:thm-2.1.sharp"])
    listed = (tmp_path / "_CoqProject").read_text(encoding="utf-8").split("\n")
    assert [line for line in listed if line.startswith("instances/")] == ["instances/renard2022_instance.v"]
    assert (tmp_path / "instances" / "renard2022_instance.v").is_file()


@pytest.mark.rocq
@pytest.mark.slow
@pytest.mark.parametrize("path", INSTANCES)
def test_rocq_accepts_the_instances(path: str, tmp_path: Path) -> None:
    """Rocq accepts the instances, with their theorem and all that it needs."""
    write_project(tmp_path, [INSTANCES[path]])
    listed = (tmp_path / "_CoqProject").read_text(encoding="utf-8").split("\n")[1:-2]
    needed = [name for name in listed if name in read_library() or name.startswith("claims/")]
    assert accepts(tmp_path, *needed, path)
