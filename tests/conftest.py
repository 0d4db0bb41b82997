"""One seed for every test, and the sum of what all tests risk."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from deniable.testing.ledger import LEDGER, LIMIT
from material.cluster import Cluster, in_memory

# The same examples in every run unless another seed is asked for; no limit on time, because a
# busy machine would make a slow example look like a failure.
settings.register_profile(
    "deniable",
    deadline=None,
    database=None,
    derandomize="DENIABLE_TEST_SEED" not in os.environ,
)
settings.load_profile("deniable")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator seeded by the test's name; DENIABLE_TEST_SEED tries another seed."""
    seed = os.environ.get("DENIABLE_TEST_SEED", "1")
    name = f"{seed}/{request.node.nodeid}".encode()
    return np.random.default_rng(list(hashlib.sha256(name).digest()))


CLUSTER_VARIABLE = "DENIABLE_TEST_CLUSTER"


def pytest_configure() -> None:
    # The first of all processes says where the one PostgreSQL server of this run will be.
    os.environ.setdefault(
        CLUSTER_VARIABLE, f"{in_memory()}/deniable-pg-{os.getpid()}-{secrets.token_hex(4)}"
    )


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The PostgreSQL server of this run; whichever process needs it first starts it."""
    shared = Cluster(Path(os.environ[CLUSTER_VARIABLE]))
    with Path(f"{shared.folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.folder.exists():
            shared.create()
            shared.start()
            shared.end_with(int(shared.folder.name.split("-")[2]))
    return shared


def pytest_unconfigure() -> None:
    # Only the process that named the server ends it: neither a worker, nor a run within a test.
    folder = Path(os.environ.get(CLUSTER_VARIABLE, ""))
    if folder.name.startswith(f"deniable-pg-{os.getpid()}-"):
        del os.environ[CLUSTER_VARIABLE]
        Path(f"{folder}.lock").unlink(missing_ok=True)
        if folder.exists():
            Cluster(folder).remove()


@pytest.fixture(autouse=True)
def _owner_of_risks(request: pytest.FixtureRequest) -> Iterator[None]:
    LEDGER.begin(request.node.nodeid)
    yield
    LEDGER.begin("")


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:  # one of several processes: the sum is that of all of them
        output["risks"] = LEDGER.risks
    elif LEDGER.exceeded() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Enter what the tests of a process that has ended have risked."""
    for owner, risk in getattr(node, "workeroutput", {}).get("risks", {}).items():
        LEDGER.begin(owner)
        LEDGER.add(risk)
    LEDGER.begin("")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not LEDGER.risks:
        return
    terminalreporter.section("false-failure ledger")
    terminalreporter.line(
        f"{len(LEDGER.risks)} tests would fail by bad luck with probability {LEDGER.total:.3g} "
        f"at most, under fresh seeds; the limit is {LIMIT:.0e}."
    )
    if LEDGER.exceeded():
        worst = sorted(LEDGER.risks.items(), key=lambda item: -item[1])[:10]
        terminalreporter.line("FAILED: the sum of alphas is above the limit. The largest are:")
        for name, risk in worst:
            terminalreporter.line(f"  {risk:.3g}  {name}")
