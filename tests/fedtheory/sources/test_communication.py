"""Messages of one aggregation are simulated: every worker gets the sum, and loads agree with the formulas."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_runs import quadratics

from fedtheory.language import quantities as q
from fedtheory.sources.liu2022.messages import (
    SERVER,
    Message,
    compute_busiest_load,
    compute_most_sent,
    cross_device,
    list_ring_messages,
    list_server_messages,
)

Vector = list[int]


def _phases(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Yield messages that are sent at the same time, phase by phase."""
    listed = sorted(messages, key=lambda message: message.phase)
    for _, together in itertools.groupby(listed, key=lambda message: message.phase):
        yield list(together)


def _around_the_ring(models: list[Vector]) -> list[Vector]:
    """Return the result for worker w that sends chunk w - phase (mod N); its neighbour adds or copies it."""
    workers, chunk = len(models), len(models[0]) // len(models)
    held = [[model[c * chunk : (c + 1) * chunk] for c in range(workers)] for model in models]
    for phase, messages in enumerate(_phases(list_ring_messages(workers, Fraction(len(models[0]))))):
        travelling = []
        for message in messages:
            number = (message.sender - phase) % workers
            assert message.size == len(held[message.sender][number])
            travelling.append((message.receiver, number, list(held[message.sender][number])))
        for receiver, number, sent in travelling:
            own = held[receiver][number]
            held[receiver][number] = [a + b for a, b in zip(own, sent, strict=True)] if phase < workers - 1 else sent
    return [list(itertools.chain(*chunks)) for chunks in held]


@given(st.integers(1, 7), st.integers(1, 3), st.data())
def test_the_ring_leaves_every_worker_with_the_sum(workers: int, chunk: int, drawn: st.DataObject) -> None:
    """The ring gives every worker the sum of random integers, split in N chunks."""
    size = workers * chunk
    numbers = st.lists(st.integers(-1000, 1000), min_size=size, max_size=size)
    models = drawn.draw(st.lists(numbers, min_size=workers, max_size=workers))
    total = [sum(column) for column in zip(*models, strict=True)]
    assert _around_the_ring(models) == [total] * workers


@given(st.integers(1, 7), st.data())
def test_the_server_leaves_every_worker_with_the_sum(workers: int, drawn: st.DataObject) -> None:
    """The server receives models in the first phase and sends their sum in the second."""
    numbers = st.lists(st.integers(-1000, 1000), min_size=3, max_size=3)
    models = drawn.draw(st.lists(numbers, min_size=workers, max_size=workers))
    total = [sum(column) for column in zip(*models, strict=True)]
    arrived, received = [0, 0, 0], {}
    first, second = _phases(list_server_messages(workers, Fraction(3)))
    for message in first:
        assert (message.receiver, message.size) == (SERVER, Fraction(3))
        arrived = [a + b for a, b in zip(arrived, models[message.sender], strict=True)]
    for message in second:
        assert (message.sender, message.size) == (SERVER, Fraction(3))
        received[message.receiver] = arrived
    assert received == dict.fromkeys(range(workers), total)


@pytest.mark.parametrize("workers", range(1, 9))
@pytest.mark.parametrize("size", [Fraction(1), Fraction(24), Fraction(7, 3)], ids=str)
def test_loads(workers: int, size: Fraction) -> None:
    """The server carries 2Nb; each worker sends and receives 2(N-1)b/N on a ring, and b through a server."""
    assert compute_busiest_load(list_server_messages(workers, size)) == 2 * workers * size
    assert compute_most_sent(list_server_messages(workers, size)) == size
    share = 2 * (workers - 1) * size / workers
    assert compute_most_sent(list_ring_messages(workers, size)) == share
    assert compute_busiest_load(list_ring_messages(workers, size)) == 2 * share
    sent, received = _totals(list_ring_messages(workers, size))
    assert set(sent.values()) == set(received.values()) == ({share} if workers > 1 else set())
    for phase in _phases(list_ring_messages(workers, size)):
        assert sorted(m.sender for m in phase) == sorted(m.receiver for m in phase) == list(range(workers))
        assert all(m.receiver == (m.sender + 1) % workers != m.sender for m in phase)
    assert len(list(_phases(list_ring_messages(workers, size)))) == 2 * (workers - 1)


def _totals(messages: Iterator[Message]) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
    sent: dict[int, Fraction] = {}
    received: dict[int, Fraction] = {}
    for message in messages:
        sent[message.sender] = sent.get(message.sender, Fraction(0)) + message.size
        received[message.receiver] = received.get(message.receiver, Fraction(0)) + message.size
    return sent, received


def test_unequal_loads_count_the_busiest() -> None:
    """The load is that of the busiest node, and the server is no worker."""
    messages = [Message(0, 0, 1, Fraction(1)), Message(0, SERVER, 2, Fraction(5)), Message(1, 1, 0, Fraction(3))]
    assert compute_busiest_load(iter(messages)) == 5
    assert compute_most_sent(iter(messages)) == 3
    assert compute_busiest_load(iter([])) == 0
    assert compute_most_sent(iter([])) == 0


@pytest.mark.parametrize("clients", [1, 2, 3, 5])
def test_quantities_count_the_messages_of_a_run(clients: int) -> None:
    """Counts agree for b = d numbers in a model and M workers, in rationals and floats."""
    hessian, linear = [["1", "0"], ["0", "2"]], ["1", "0"]
    run = quadratics([hessian] * clients, [linear] * clients, ["0", "0"]).engine
    wanted: dict[q.RunQuantity, Callable[[], Fraction]] = {
        q.model_size: lambda: Fraction(2),
        q.parameter_server_load: lambda: Fraction(4 * clients),
        q.ring_worker_load: lambda: Fraction(4 * (clients - 1), clients),
    }
    for quantity, value in wanted.items():
        exact = quantity.measure(run)
        assert Fraction(int(exact.p), int(exact.q)) == value()
        assert quantity.measure(run.as_floats()) == pytest.approx(float(value()))


def test_scales_are_ordered() -> None:
    """Lowest scales are below highest ones, and a round has at most all devices."""
    scale = cross_device()
    for low, high in (scale.population, scale.devices_per_round, scale.rounds):
        assert 0 < low < high
    assert scale.devices_per_round[1] <= scale.population[0]
