"""Keys by app and analyst: made, replaced, ended, over; and never in clear on the disk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from deniable.collector.keyring import Keyring, utc_date
from deniable.collector.keys_file import MAX_KEYS, Key, Purpose, end_keys, make_key, read_keys
from deniable.errors import InvalidParameter
from deniable.store import SqliteStore
from material.collector import JSON, body, collector, report
from material.commands import call, run

TODAY = date(2026, 3, 15)
APP, ANALYST, METRICS = Purpose.APP, Purpose.ANALYST, Purpose.METRICS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "data" / "s") as store:
        yield store


def made(path: Path, purpose: Purpose, name: str, **options: object) -> bytes:
    return make_key(path, purpose, name, today=TODAY, **options)[1].encode()  # type: ignore[arg-type]


def ring(path: Path, today: date = TODAY) -> Keyring:
    return Keyring((), path, lambda: today)


def test_the_file_holds_hashes_only_and_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    secret = made(path, APP, "desktop")
    assert len(secret) >= 43  # 256 bits
    assert secret.decode() not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    (key,) = read_keys(path)
    assert key.hash not in repr(key)
    assert [each.name for each in tmp_path.iterdir()] == ["keys.json"]  # nothing is left beside


def test_each_app_has_its_own_keys_two_at_once(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    old, phone = made(path, APP, "desktop"), made(path, APP, "phone")
    new = made(path, APP, "desktop")
    assert all(map(ring(path).may_write, (old, new, phone)))
    with pytest.raises(InvalidParameter, match="desktop has 2 keys already"):
        made(path, APP, "desktop")
    first = read_keys(path)[0]
    assert [key.id for key in end_keys(path, lambda key: key == first, TODAY)] == [first.id]
    keys = ring(path)
    assert not keys.may_write(old)
    assert keys.may_write(new)
    assert keys.may_write(phone)
    assert made(path, APP, "desktop") not in (old, new)  # there is room again


def test_what_needed_a_key_never_opens_because_keys_ended(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made(path, METRICS, "prometheus")
    assert ring(path).writing_open
    assert ring(path).reading_open
    secrets = made(path, APP, "desktop"), made(path, ANALYST, "maria")
    end_keys(path, lambda key: True, TODAY)
    keys = ring(path)
    assert not keys.writing_open
    assert not keys.reading_open
    assert not any(may(each) for each in secrets for may in (keys.may_write, keys.may_read))


def test_a_token_ends_with_its_last_day(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    token = made(path, ANALYST, "maria", until=TODAY)
    assert ring(path).may_read(token)
    assert not ring(path, TODAY + timedelta(days=1)).may_read(token)
    with pytest.raises(InvalidParameter, match="must end today or later"):
        made(path, ANALYST, "maria", until=TODAY - timedelta(days=1))


def test_each_key_opens_what_it_is_for(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    shown = {purpose: made(path, purpose, "x") for purpose in Purpose}
    keys = ring(path)
    opened = {
        purpose: (keys.may_write(each), keys.may_read(each), keys.may_measure(each))
        for purpose, each in shown.items()
    }
    assert opened == {
        APP: (True, False, False),
        ANALYST: (False, True, True),
        METRICS: (False, False, True),
    }
    assert not any((keys.may_write(b""), keys.may_read(b""), keys.may_measure(b"")))


def test_a_key_may_be_for_one_of_several_surveys(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    one, both = made(path, APP, "one", survey="shop"), made(path, APP, "both")
    token = made(path, ANALYST, "maria", survey="shop")
    keys = ring(path)
    assert [keys.may_write(one, name) for name in ("shop", "game", "")] == [True, False, False]
    assert [keys.may_write(both, name) for name in ("shop", "game", "")] == [True, True, True]
    assert [keys.may_read(token, name) for name in ("shop", "game")] == [True, False]
    assert not keys.may_measure(token)  # metrics are of all surveys


def test_every_key_is_compared_whichever_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "keys.json"
    secrets = [made(path, APP, f"app{number}") for number in range(5)]
    compared: list[str] = []

    def compare(shown: str, wanted: str) -> bool:
        compared.append(wanted)
        return shown == wanted

    monkeypatch.setattr("deniable.collector.keyring.hmac.compare_digest", compare)
    keys = ring(path)
    for shown in (*secrets, b"wrong"):
        compared.clear()
        keys.may_write(shown)
        assert compared == [key.hash for key in read_keys(path)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": 2, "keys": []}',
        '{"format": 1, "keys": [{}]}',
        '{"format": 1, "keys": {}, "more": 1}',
        json.dumps({"format": 1, "keys": [Key(APP, "a", "0" * 63).as_json()]}),
        json.dumps({"format": 1, "keys": [Key(APP, "../a", "0" * 64).as_json()]}),
        json.dumps({"format": 1, "keys": [Key(APP, "a", "0" * 64).as_json() | {"for": "x"}]}),
        json.dumps({"format": 1, "keys": [Key(APP, "a", "0" * 64).as_json() | {"until": "x"}]}),
        json.dumps({"format": 1, "keys": [Key(APP, "a", "0" * 64).as_json()] * (MAX_KEYS + 1)}),
    ],
)
def test_a_broken_file_is_refused_and_leaves_the_keys_as_they_were(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "keys.json"
    secret = made(path, APP, "desktop")
    keys = ring(path)
    path.write_text(text)
    with pytest.raises(InvalidParameter, match="deniable keys make"):
        keys.reload()
    assert keys.may_write(secret)
    assert not keys.may_write(b"other")
    with pytest.raises(InvalidParameter):
        ring(path)


def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made(path, APP, "desktop")
    path.chmod(0o620)
    with pytest.raises(InvalidParameter, match="chmod 600"):
        read_keys(path)


def test_two_who_make_keys_at_once_lose_none(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    code = (
        "import sys; from pathlib import Path; from datetime import date\n"
        "from deniable.collector.keys_file import Purpose, make_key\n"
        "for n in range(20): make_key(Path(sys.argv[1]), Purpose.APP, f'{sys.argv[2]}{n}', "
        "today=date(2026, 3, 15))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, path, each]) for each in "ab"]
    assert [each.wait(timeout=60) for each in running] == [0, 0]
    assert len({key.name for key in read_keys(path)}) == 40


def test_a_collector_follows_the_file_when_it_is_told_to(
    tmp_path: Path, store: SqliteStore
) -> None:
    path = tmp_path / "keys.json"
    key = make_key(path, APP, "desktop", today=utc_date())[1]
    with collector(tmp_path, store, keys=path) as app:
        keys = app.app.state.settings.ring
        assert app.post(body(report(1))).status == 401
        sent = {**JSON, "authorization": f"Bearer {key}"}
        assert app.post(body(report(1)), headers=sent).status == 200
        assert app.get("/v1/counters").status == 200  # loopback, and no analyst yet
        token = make_key(path, ANALYST, "maria", today=utc_date())[1]
        end_keys(path, lambda each: each.purpose is APP, utc_date())
        assert app.post(body(report(2)), headers=sent).status == 200  # not told yet
        keys.reload()
        assert app.post(body(report(3)), headers=sent).status == 401
        assert app.post(body(report(3))).status == 401
        assert app.get("/v1/counters").status == 401
        shown = {"authorization": f"Bearer {token}"}
        assert app.get("/v1/counters", shown).status == 200


def test_the_command_makes_lists_and_ends(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    first = json.loads(call("keys", "make", "desktop", "--keys", file, "--json"))
    second = call("keys", "make", "desktop", "--keys", file).strip()
    token = json.loads(call("keys", "make", "maria", "--for", "analyst", "--keys", file, "--json"))
    assert date.fromisoformat(token["until"]) == utc_date() + timedelta(days=365)
    listed = call("keys", "list", "--keys", file)
    assert [line.split()[1:3] for line in listed.splitlines()] == [
        ["app", "desktop"],
        ["app", "desktop"],
        ["analyst", "maria,"],
    ]
    assert not any(each in listed for each in (first["secret"], second, token["secret"]))
    refused = run("keys", "end", "desktop", "--keys", file)
    assert "Name one with --id, or say --all." in str(refused.exception)
    call("keys", "end", "desktop", "--id", first["id"], "--keys", file)
    keys = Keyring((), file)
    assert not keys.may_write(first["secret"].encode())
    assert keys.may_write(second.encode())
    assert f"{first['id']}  app     desktop, ended {utc_date()}" in call(
        "keys", "list", "--keys", file
    )
    told = json.loads(call("keys", "list", "--keys", file, "--json"))
    assert [each["live"] for each in told["keys"]] == [False, True, True]
    assert "hash" not in told["keys"][0]
    for wrong in (("end", "nobody"), ("make", "a/b"), ("make", "x", "--until", "2020-01-01")):
        assert isinstance(run("keys", *wrong, "--keys", file).exception, InvalidParameter)
