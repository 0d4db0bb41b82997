"""The store: a right one passes, and senders, ids and order are seen where they are."""

from __future__ import annotations

import ipaddress
import sqlite3
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import Response

from deniable.audit.store import known_senders
from deniable.audit.store.arrival_order import group_check, order_checks
from deniable.audit.store.files import files_findings, sender_traces
from deniable.audit.store.kept_data import audit_store
from deniable.audit.store.known_senders import Sender, probe_finding
from deniable.collector.endpoints import Collector
from deniable.collector.plain import Plain, PlainReports
from deniable.errors import StoreError
from deniable.mechanisms import mechanism_for
from deniable.protocol import Question, Report, Strings
from deniable.store import STORE_FILE, Batch, open_store
from deniable.testing.ledger import LEDGER
from deniable.testing.statistics import accept, reject
from material.audits import ONCE, a_question, categories, survey

ALPHA = 1e-10


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with an open and a closed epoch."""
    with open_store(tmp_path / "data") as store:
        for epoch in (3, 9):
            store.append(
                [
                    Report("q", 1, bytes(32), epoch, bytes([epoch, i] * 8), bytes([i] * 4))
                    for i in range(5)
                ]
            )
        store.close_epochs(5, {("q", 1): 1}, running_seconds=0)
    return tmp_path / "data"


def failed(data: Path) -> list[str]:
    return [finding.check for finding in files_findings(data) if not finding.holds]


def change(data: Path, *statements: str) -> None:
    with closing(sqlite3.connect(data / STORE_FILE)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_tables_that_are_made_when_they_are_needed_pass(data: Path) -> None:
    with open_store(data) as store:
        (closed, _) = store.tallies()
        store.remember({b"key": (closed.stamp, b"counts")})
        store.expire({("q", 1): 4}, {("q", 1): 1})
    assert failed(data) == []
    for table in ("counted", "expiring"):
        change(data, f"ALTER TABLE {table} ADD COLUMN moment")
    assert failed(data) == ["no column for a sender"]


def test_scratch_stores_pass() -> None:
    LEDGER.add(4 * ALPHA)
    audit = audit_store(alpha=ALPHA)
    assert audit.holds, audit.failures
    assert [(finding.about, finding.check) for finding in audit.findings] == [
        ("a probed collector", "nothing about the sender"),
        ("an open epoch", "order within a group"),
        ("a closed epoch", "nothing lost"),
        ("a closed epoch", "order of records"),
        ("a closed epoch", "order of bytes"),
        ("a closed epoch", "ids and old places overwritten"),
    ]


class TestFiles:
    def test_a_right_directory_passes(self, data: Path) -> None:
        found = list(files_findings(data))
        assert [finding.holds for finding in found] == [True, True, True]
        assert "ids of 1 epochs" in found[1].words

    def test_more_tables_and_columns(self, data: Path) -> None:
        change(data, "CREATE TABLE senders (address TEXT)")
        assert failed(data) == ["no column for a sender"]

    def test_a_column_of_arrival(self, data: Path) -> None:
        change(data, "ALTER TABLE chunks ADD COLUMN arrived INTEGER")
        (finding,) = [f for f in files_findings(data) if not f.holds]
        assert "'arrived' of chunks" in finding.words

    def test_ids_of_a_closed_epoch(self, data: Path) -> None:
        change(data, "INSERT INTO ids VALUES (3, 1, x'00', x'00')")
        assert failed(data) == ["no ids of closed epochs"]

    @pytest.mark.parametrize(
        "text",
        [
            "from 198.51.100.7 at",
            "from 2001:db8::7 at",
            "from 2001:0DB8:0000:0000:0000:0000:0000:0007",
            "[fe80::1%eth0]:443",
            "::ffff:198.51.100.7",
            "agent Mozilla/5.0",
            "User-Agent: x",
            "Cookie: a=b",
            "GET /?who=me HTTP/1.1",
        ],
    )
    def test_a_log_beside_the_store(self, data: Path, text: str) -> None:
        (data / "access.log").write_text(text)
        assert failed(data) == ["no sender in any byte"]

    def test_an_address_in_a_counter(self, data: Path) -> None:
        change(data, "INSERT INTO counters VALUES ('203.0.113.9', 'seen', 1)")
        assert failed(data) == ["no sender in any byte"]

    def test_numbers_that_are_no_address(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_text("999.1.1.1 1.2.3 1.2.3.4.5 v1.2")
        assert sender_traces(path) == set()
        path.write_bytes(b"x" * (2**20 - 3) + b"10.20.30.40")  # across two blocks
        assert sender_traces(path) == {"an address"}

    def test_an_ipv6_address_in_a_counter(self, data: Path) -> None:
        change(data, "INSERT INTO counters VALUES ('2001:db8::9', 'seen', 1)")
        assert failed(data) == ["no sender in any byte"]

    def test_colons_that_are_no_address(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_text("12:34:56 a::b:: 1:2:3:4:5:6:7 x::1y ::1 12345::1 abcd:ef01")
        assert sender_traces(path) == set()
        path.write_bytes(b"x" * (2**20 - 3) + b" 2001:db8::1 ")  # across two blocks
        assert sender_traces(path) == {"an address"}

    def test_random_bytes_name_nobody(self, tmp_path: Path, rng: np.random.Generator) -> None:
        path = tmp_path / "file"
        path.write_bytes(rng.bytes(2**21))
        LEDGER.add(1e-8)
        assert sender_traces(path) == set()

    def test_no_store(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="There is no store"):
            audit_store(tmp_path)


def packed(request: Request) -> bytes:
    assert request.client is not None
    return ipaddress.IPv4Address(request.client.host).packed


def forwarded(request: Request) -> str:
    return request.headers["x-forwarded-for"].partition(", ")[2]


class TestProbe:
    def test_a_collector_that_logs_addresses(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = Collector.post_reports

        async def wrong(self: Collector, request: Request) -> Response:
            assert request.client is not None
            print("from", request.client.host)
            return await right(self, request)

        monkeypatch.setattr(Collector, "post_reports", wrong)
        finding = probe_finding(tmp_path)
        assert not finding.holds
        assert "the address of a sender is in the log" in finding.words

    def test_a_collector_that_keeps_user_agents(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = Collector.post_reports

        async def wrong(self: Collector, request: Request) -> Response:
            self.store.count({("", request.headers["user-agent"]): 1})
            return await right(self, request)

        monkeypatch.setattr(Collector, "post_reports", wrong)
        finding = probe_finding(tmp_path)
        assert not finding.holds
        assert "the user agent of a sender is in a file" in finding.words

    def test_a_server_that_keeps_cookies_of_plain_requests(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They never reach the application."""
        right = PlainReports.opens

        def wrong(self: PlainReports, raw: Sequence[tuple[bytes, bytes]]) -> Plain | None:
            (tmp_path / "notes").write_bytes(dict(raw)[b"cookie"])
            return right(self, raw)

        monkeypatch.setattr(PlainReports, "opens", wrong)
        finding = probe_finding(tmp_path)
        assert not finding.holds
        assert "the cookie of a sender is in a file" in finding.words

    @pytest.mark.parametrize(
        ("name", "kept"),
        [
            ("the address, packed,", lambda request: packed(request)),
            ("the address of", lambda request: bytes(10) + b"\xff\xff" + packed(request)),
            ("the forwarded IPv6 address", lambda request: forwarded(request).encode()),
            (
                "the forwarded IPv6 address",
                lambda request: ipaddress.ip_address(forwarded(request)).exploded.upper().encode(),
            ),
            (
                "the forwarded IPv6 address",
                lambda request: ipaddress.ip_address(forwarded(request)).packed,
            ),
            ("the cookie", lambda request: request.headers["cookie"].encode().hex().encode()),
            ("the name of a header", lambda request: ",".join(request.headers).encode()),
            ("the query string", lambda request: request.url.query.encode()),
            ("the time of arrival", lambda request: str(time.time()).encode()),
            ("the time of arrival", lambda request: struct.pack(">I", int(time.time()))),
            ("the time of arrival", lambda request: struct.pack("<d", time.time())),
        ],
    )
    def test_a_collector_that_keeps_something(
        self,
        name: str,
        kept: Callable[[Request], bytes],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        right = Collector.post_reports

        async def wrong(self: Collector, request: Request) -> Response:
            with (tmp_path / "notes").open("ab") as file:
                file.write(b"\x07" + kept(request) + b"\x07")
            return await right(self, request)

        monkeypatch.setattr(Collector, "post_reports", wrong)
        finding = probe_finding(tmp_path)
        assert not finding.holds
        assert f"{name}" in finding.words

    def test_four_bytes_that_turn_up_by_chance_are_no_finding(self) -> None:
        senders = [Sender.random() for _ in range(known_senders.SENDERS)]
        one = ipaddress.IPv4Address(senders[0].address).packed
        assert list(known_senders._traces(senders, b"." + one * 3, "a file")) == []
        second = 1_772_452_800
        assert not list(known_senders._arrivals(second.to_bytes(4, "big"), second, second))

    def test_a_time_of_arrival(self) -> None:
        second = 1_772_452_800
        for content in (second.to_bytes(4, "big"), second.to_bytes(8, "little")):
            assert list(known_senders._arrivals(b"..." + 5 * content, second - 1, second + 1))
        assert list(known_senders._arrivals(b"at 1772452800", second - 1, second + 1))
        assert not list(known_senders._arrivals(b"nothing", second - 1, second + 1))

    def test_senders_differ(self) -> None:
        assert len({Sender.random().agent for _ in range(5)}) == 5


class TestOrder:
    def test_random_orders_pass(self, rng: np.random.Generator) -> None:
        groups = [rng.permutation(50).tolist() for _ in range(20)]
        whole = rng.permutation(1_000).tolist()
        for check in (*order_checks(groups), *order_checks([whole]), group_check(whole, 50)):
            accept(check, 1e-9)

    @pytest.mark.parametrize("name", ["kept", "reversed", "nearly kept", "cut once"])
    def test_orders_that_are_left_are_seen(self, name: str, rng: np.random.Generator) -> None:
        kept = np.arange(1_000)
        orders = {
            "kept": kept,
            "reversed": kept[::-1],
            "nearly kept": np.argsort(kept + rng.normal(0, 100, size=1_000)),
            "cut once": np.roll(kept, 500),
        }
        checks = order_checks([orders[name].tolist()])
        reject(min(checks, key=lambda check: check.p_value), 1e-9, miss=1e-12)

    def test_groups_that_stay_together_are_seen(self, rng: np.random.Generator) -> None:
        groups = rng.permutation(20)
        order = np.concatenate([50 * group + rng.permutation(50) for group in groups])
        reject(group_check(order.tolist(), 50), 1e-9, miss=1e-12)


class TestAdvice:
    def test_stored_reports_are_looked_at(self, tmp_path: Path, rng: np.random.Generator) -> None:
        asked = a_question("page", Strings(), "olh", {"epsilon": 1.0, "seeds": 64})
        small = a_question("few", categories(3), "krr", ONCE)
        mechanism = mechanism_for(asked.fields[0].parameters)
        reports = mechanism.simulate(np.zeros(3_000, dtype=np.int64), rng, ["a"])
        batch = Batch("page", 1, asked.digest, 7)
        with open_store(tmp_path) as store:
            store.append_records(batch, reports.tobytes(), asked.record_size)
        LEDGER.add(6 * ALPHA)
        (advice,) = self.advice(tmp_path, asked, small)
        assert advice["strange"] is False
        reports["seed"] %= 32
        with open_store(tmp_path) as store:
            store.append_records(batch, reports.tobytes(), asked.record_size)
        (advice,) = self.advice(tmp_path, asked, small)
        assert advice["strange"] is True

    def advice(self, data: Path, *questions: Question) -> list[dict[str, object]]:
        audit = audit_store(data, survey=survey(*questions), alpha=ALPHA)
        assert audit.holds
        return [f.as_json() for f in audit.findings if f.check == "advice on crafted reports"]
