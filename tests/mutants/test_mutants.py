"""Five mutants, each a mistake that would betray people, each caught by one of the audits.

A mutant changes the shipped code for the length of a test; the same audit passes without it.
Probabilities that are 5% off have a file of their own.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Set
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import deniable
from deniable.audit import Audit
from deniable.audit.exact.encoder_source import floats_in_encoders
from deniable.audit.exact.proofs import audit_exact
from deniable.audit.store.kept_data import audit_store
from deniable.audit.wire.bytes_sent import audit_wire
from deniable.authoring import resolve
from deniable.client import outbox
from deniable.client.encoders import oue, rappor
from deniable.client.encoders.base import Draws
from deniable.client.encoders.krr import KRREncoder
from deniable.client.encoders.unary import pack_bits
from deniable.client.randomness import SystemDraws
from deniable.protocol import (
    Categories,
    Domain,
    Field,
    Question,
    Report,
    Strings,
    Survey,
)
from deniable.protocol.thresholds import ONE
from deniable.protocol.unary import UnaryParameters
from deniable.store import mixing
from deniable.store.sqlite import writer
from deniable.testing.ledger import LEDGER


def a_survey(domain: Domain, mechanism: str, wanted: dict[str, object]) -> Survey:
    field = Field("value", domain, resolve(mechanism, wanted, domain, False))
    repeat = "epoch" if field.parameters.memoised else "once"
    expires = date(2099, 12, 31)
    question = Question("q", 1, "?", "owner", expires, 1, repeat, "recorded", (field,))
    return Survey("mutants", "owner", (question,))


def colours(count: int) -> Categories:
    return Categories(tuple(f"colour {i}" for i in range(count)))


def failed(audit: Audit) -> set[str]:
    return {finding.check for finding in audit.failures}


@pytest.fixture(params=[3, 40], ids=["enumerated", "by structure"])
def krr(request: pytest.FixtureRequest) -> Survey:
    return a_survey(colours(request.param), "krr", {"epsilon": 1.0, "epsilon_forever": 3.0})


class TestABrokenThreshold:
    """Caught by `deniable audit exact`, whatever its size."""

    @pytest.mark.parametrize("off", [1, 2**20, 2**50])
    def test_a_stage_keeps_too_often(
        self, krr: Survey, off: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = KRREncoder._stage

        def stage(self: KRREncoder, symbol: int, keep: int, draws: Draws) -> int:
            return right(self, symbol, keep + (off << 12), draws)

        assert audit_exact(krr).holds
        monkeypatch.setattr(KRREncoder, "_stage", stage)
        assert "epsilon of one report" in failed(audit_exact(krr))


def permanent_response(
    held: Collection[int], parameters: UnaryParameters, permanent: Draws
) -> list[bool]:
    """What the right encoder does first."""
    return [
        permanent.coin(parameters.permanent_one if i in held else parameters.permanent_zero)
        for i in range(parameters.bits)
    ]


def same_coin_twice(
    held: Collection[int], parameters: UnaryParameters, permanent: Draws, fresh: Draws
) -> bytes:
    """The coin of the permanent stage serves as the fresh one too."""
    return pack_bits(permanent_response(held, parameters, permanent), parameters.bits)


def one_word_for_two_bits(
    held: Collection[int], parameters: UnaryParameters, permanent: Draws, fresh: Draws
) -> bytes:
    """One random word is compared with the thresholds of two neighbours."""
    response = permanent_response(held, parameters, permanent)
    asked = [parameters.report_one if bit else parameters.report_zero for bit in response]
    sent: list[bool] = []
    for i in range(0, parameters.bits, 2):
        pair = asked[i : i + 2]
        low, high = min(pair), max(pair)
        both = fresh.coin(low)
        one = not both and fresh.coin((high - low) * ONE // (ONE - low))
        sent += [both or (one and threshold == high) for threshold in pair]
    return pack_bits(sent, parameters.bits)


class TestAReusedCoin:
    """Caught by `deniable audit exact`: bits or stages that follow one coin."""

    @pytest.mark.parametrize("count", [2, 4, 100])
    @pytest.mark.parametrize("mechanism", ["oue", "rappor"])
    @pytest.mark.parametrize("mutant", [same_coin_twice, one_word_for_two_bits])
    def test_it_is_caught(
        self, mutant: object, mechanism: str, count: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wanted: dict[str, object] = {"epsilon": 1.0}
        if mutant is same_coin_twice:
            wanted["epsilon_forever"] = 3.0
        survey = a_survey(colours(count), mechanism, wanted)
        assert audit_exact(survey).holds
        for module in (oue, rappor):
            monkeypatch.setattr(module, "two_stages", mutant)
        assert "epsilon of one report" in failed(audit_exact(survey))


class TestAFloat:
    """Caught by `deniable audit exact`: in the source, and where it reaches a coin."""

    def test_a_float_threshold(self, krr: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
        right = KRREncoder._stage

        def stage(self: KRREncoder, symbol: int, keep: int, draws: Draws) -> int:
            threshold: Any = keep * 1.0
            return right(self, symbol, threshold, draws)

        assert audit_exact(krr).holds
        monkeypatch.setattr(KRREncoder, "_stage", stage)
        audit = audit_exact(krr)
        assert "epsilon of one report" in failed(audit)
        assert "float" in audit.failures[0].words

    def test_a_float_in_the_source(self, tmp_path: Path) -> None:
        package = Path(deniable.__file__).parent
        for folder in ("client/encoders", "protocol"):
            (tmp_path / folder).mkdir(parents=True)
            for path in (package / folder).glob("*.py"):
                (tmp_path / folder / path.name).write_text(path.read_text())
        assert floats_in_encoders(tmp_path) == ()
        encoder = tmp_path / "client/encoders/krr.py"
        right, wrong = "draws.coin(keep)", "draws.below(2**32) / 2**32 < keep / 2**64"
        source = encoder.read_text()
        assert source.count(right) == 1, "the encoder has changed: this mutant must follow it"
        encoder.write_text(source.replace(right, wrong))
        assert any("krr.py" in place for place in floats_in_encoders(tmp_path))


def change_leases(monkeypatch: pytest.MonkeyPatch, change: Callable[[Report], Report]) -> None:
    """Change every report whenever it is taken from the outbox to be sent."""
    right = outbox.lease

    def lease(
        connection: sqlite3.Connection,
        day: int,
        now: float,
        limit: int,
        draws: SystemDraws,
        tried: Set[bytes] | None = None,
    ) -> list[Report]:
        return [change(report) for report in right(connection, day, now, limit, draws, tried)]

    monkeypatch.setattr(outbox, "lease", lease)


class TestARetryThatIsDrawnAgain:
    """Caught by `deniable audit wire`."""

    def test_another_record_under_the_same_id(self, monkeypatch: pytest.MonkeyPatch) -> None:
        survey = a_survey(
            Strings(), "rappor", {"k": 64, "h": 2, "m": 1, "f": 0.5, "p": 0.5, "q": 0.75}
        )
        assert audit_wire(survey).holds
        change_leases(
            monkeypatch, lambda report: replace(report, record=report.record[:2] + os.urandom(8))
        )
        assert failed(audit_wire(survey)) == {"bit-identical retries"}

    def test_another_id(self, monkeypatch: pytest.MonkeyPatch) -> None:
        survey = a_survey(colours(3), "krr", {"epsilon": 1.0})
        assert audit_wire(survey).holds
        change_leases(monkeypatch, lambda report: replace(report, id=os.urandom(16)))
        assert "one report per epoch" in failed(audit_wire(survey))


def as_they_came(records: bytes, size: int, random_bytes: object) -> bytes:
    return records


class TestAnOrderedStore:
    """Caught by `deniable audit store`, in an open epoch and in a closed one."""

    def test_groups_are_written_as_they_came(self, monkeypatch: pytest.MonkeyPatch) -> None:
        LEDGER.add(1e-9)
        assert audit_store(alpha=2e-10).holds
        monkeypatch.setattr(writer, "shuffled", as_they_came)
        assert "order within a group" in failed(audit_store())

    def test_closing_does_not_mix(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(mixing, "shuffled", as_they_came)
        assert {"order of records", "order of bytes"} & failed(audit_store())
