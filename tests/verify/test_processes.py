"""Tasks in several processes: order of results, failures, lost workers, interruption."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from fedtheory.workers import workers
from verify.processes import run_in_order, run_unordered

pytestmark = pytest.mark.long


def worked_in(seconds: float) -> int:
    """Return the id of the process that does a task of so many seconds."""
    time.sleep(seconds)
    return os.getpid()


class Travelling:
    """Object that records whether the submitting thread has packed it."""

    def __reduce__(self) -> tuple[type[bool], tuple[bool]]:
        return bool, (threading.current_thread() is threading.main_thread(),)


def seen_after(travelling: Travelling | bool, seconds: float) -> Travelling | bool:
    """Wait, and return the object as it arrived in the process."""
    time.sleep(seconds)
    return travelling


def note(path: str, seconds: float) -> None:
    """Append a line with the id of this process to a file."""
    with open(path, "a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(seconds)


def fail_with(message: str) -> None:
    """Fail with a message."""
    raise ValueError(message)


def end_a_worker(parent: int) -> None:
    """End this process, unless it is the process that waits."""
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)


def interrupt(parent: int) -> int:
    """Send Ctrl-C to the process that waits."""
    if os.getpid() == parent:
        raise KeyboardInterrupt
    time.sleep(60)
    return 0


def test_results_come_in_the_order_of_the_tasks() -> None:
    """Results come in the order of the tasks, in this process and in others."""
    for jobs in (1, 2):
        assert list(run_in_order(divmod, [(7, 2), (9, 4)], jobs)) == [(3, 1), (2, 1)]
        assert sorted(run_unordered(divmod, [(7, 2), (9, 4)], jobs)) == [(2, 1), (3, 1)]


def test_this_process_works_as_well() -> None:
    """With two processes there is one worker besides the calling process, and short tasks go to both."""
    where = list(run_in_order(worked_in, [(0.02,)] * 100, 2))
    assert len(set(where)) == 2
    assert os.getpid() in where
    assert set(run_in_order(worked_in, [(0.0,)] * 3, 1)) == {os.getpid()}


def test_arguments_are_packed_before_work_begins() -> None:
    """The calling thread packs the arguments: another thread could read data that the calling process is changing."""
    found = list(run_in_order(seen_after, [(Travelling(), 0.02)] * 40, 2))
    arrived = [each for each in found if isinstance(each, bool)]
    assert 0 < len(arrived) < len(found)
    assert all(arrived)


def test_results_go_to_those_who_asked_for_them() -> None:
    """Results reach their callers if further tasks are submitted while a worker is busy."""
    begun = run_in_order(worked_in, [(0.5,)] * 2, 2)
    assert list(run_in_order(divmod, [(number, 5) for number in range(9)], 2)) == [divmod(n, 5) for n in range(9)]
    assert all(isinstance(process, int) for process in begun)


@pytest.mark.timeout(30)
def test_workers_that_are_busy_stay_as_many_as_they_are() -> None:
    """More of them are asked for in the middle of other work: to wait for its end there would be to wait for ever."""
    begun = run_in_order(worked_in, [(0.1,)] * 8, 2)
    assert list(run_in_order(divmod, [(7, 2), (9, 4)], 3)) == [(3, 1), (2, 1)]
    assert len(list(begun)) == 8


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_is_raised_where_the_result_is_asked_for(jobs: int) -> None:
    """A failure is raised at the result of its task, after the results before it."""
    begun = run_in_order(fail_with, [("one",), ("two",)], jobs)
    assert list(run_in_order(divmod, [(7, 2)], jobs)) == [(3, 1)]
    with pytest.raises(ValueError, match=r"one|two"):
        list(begun)
    assert list(run_in_order(divmod, [(7, 2), (9, 4)], jobs)) == [(3, 1), (2, 1)]


def test_unawaited_tasks_are_not_done(tmp_path: Path) -> None:
    """Tasks whose results are not awaited are not done, except for those that had begun."""
    trace = tmp_path / "trace"
    trace.touch()
    dropped = run_in_order(note, [(str(trace), 0.1)] * 50, 2)
    del dropped
    gc.collect()
    for _ in range(3):
        assert list(run_in_order(worked_in, [(0.2,)] * 8, 2))
    assert len(trace.read_text().split()) <= 4


def test_the_loss_of_a_worker_is_reported_and_others_come() -> None:
    """The loss of a worker is reported at once, and other workers replace it."""
    with pytest.raises(BrokenProcessPool):
        list(run_unordered(end_a_worker, [(os.getpid(),)] * 100, 2))
    assert list(run_in_order(divmod, [(7, 2), (9, 4)], 2)) == [(3, 1), (2, 1)]


def test_a_lost_pool_is_replaced_while_its_workers_seem_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a process is not seen while another thread waits for it."""
    pool = workers(1)
    with pytest.raises(BrokenProcessPool):
        pool.submit(end_a_worker, os.getpid()).result()
    while pool.is_busy:
        time.sleep(0.01)
    monkeypatch.setattr(BaseProcess, "is_alive", lambda _: True)
    assert list(run_in_order(divmod, [(7, 2), (9, 4)], 2)) == [(3, 1), (2, 1)]


def test_a_worker_that_is_lost_between_tasks_is_replaced() -> None:
    """A worker that the system ends between tasks, for lack of memory, is replaced."""
    others = set(run_in_order(worked_in, [(0.2,)] * 20, 2)) - {os.getpid()}
    for process in others:
        os.kill(process, signal.SIGKILL)
    time.sleep(0.2)
    assert list(run_in_order(divmod, [(7, 2), (9, 4)], 2)) == [(3, 1), (2, 1)]


@pytest.mark.timeout(30)
def test_an_interruption_ends_the_workers() -> None:
    """An interruption ends the workers, however long their tasks would take."""
    with pytest.raises(KeyboardInterrupt):
        list(run_in_order(interrupt, [(os.getpid(),)] * 4, 2))
    assert list(run_in_order(divmod, [(7, 2), (9, 4)], 2)) == [(3, 1), (2, 1)]
