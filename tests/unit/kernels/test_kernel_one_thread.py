"""Products of small matrices on one thread: limits are set, nested, shared and restored."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from deniable.associate import Variable, associate
from deniable.decode import mixture
from deniable.kernels.one_thread import OneThread, one_thread
from deniable.mechanisms import KRR


def threads() -> set[int]:
    """Return the numbers of threads of the linear-algebra libraries of this process."""
    assert scipy.linalg is not None
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    """Let there be two threads to begin with, whatever the machine has."""
    before = threadpool_limits(2, "blas")
    OpenBLASController.clear_controlling_thread(force=True)
    yield
    OpenBLASController.clear_controlling_thread(force=True)
    before.restore_original_limits()


def test_inside_there_is_one_thread_and_outside_as_many_as_before() -> None:
    """The limit holds inside, also nested, and ends with the outermost."""
    one = OneThread()
    assert threads() == {2}
    with one:
        with one:
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_an_error_inside_restores_the_threads() -> None:
    """Whoever fails inside leaves too."""

    @OneThread()
    def fail() -> None:
        assert threads() == {1}
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert threads() == {2}


def test_threads_that_are_inside_at_once_leave_what_they_found() -> None:
    """Eight threads enter and leave as they like; afterwards there are two threads again."""
    one, seen = OneThread(), []

    def often() -> None:
        for _ in range(50):
            with one, one:
                seen.append(threads())

    crowd = [threading.Thread(target=often) for _ in range(8)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert {1} in seen
    assert threads() == {2}


def test_a_decorated_function_keeps_its_name_and_result() -> None:
    """What is decorated looks as before."""

    @one_thread
    def doubled(number: int) -> int:
        """Return twice the number."""
        return 2 * number

    assert doubled(3) == 6
    assert (doubled.__name__, doubled.__doc__) == ("doubled", "Return twice the number.")


def test_associations_are_computed_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solvers run inside, and leave."""
    seen: list[set[int]] = []
    step = mixture._step

    def noted(*args, **kwargs):
        seen.append(threads())
        return step(*args, **kwargs)

    monkeypatch.setattr(mixture, "_step", noted)
    rng = np.random.default_rng(1)
    krr = KRR(3, epsilon=2.0)
    fields = [Variable(name, krr, krr.simulate(rng.integers(0, 3, 500), rng)) for name in "ab"]
    associate(fields)
    assert seen
    assert set().union(*seen) == {1}
    assert threads() == {2}
