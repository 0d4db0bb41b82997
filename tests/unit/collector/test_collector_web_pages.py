"""Pages that may not send are refused before anything of them is read, stored or counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.collector import Settings, hash_write_keys
from deniable.errors import InvalidParameter
from deniable.store import SqliteStore
from material.collector import JSON, body, collector, report

SHOP = "https://shop.example"
PAGE = {**JSON, "content-type": "text/plain;charset=UTF-8"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(tmp_path / "reports.sqlite3") as opened:
        yield opened


def test_listed_origins_send_and_others_do_not(tmp_path: Path, store: SqliteStore) -> None:
    with collector(tmp_path, store, origins=(SHOP,)) as app:
        sent = app.post(body(report(1)), headers={**PAGE, "origin": SHOP})
        assert sent.json["accepted"] == 1
        assert sent.headers["access-control-allow-origin"] == SHOP
        assert sent.headers["vary"] == "origin"
        for origin in ("https://evil.example", "null", SHOP.upper(), SHOP + ":444", ""):
            # The body is not even JSON: it is never looked at.
            refused = app.post(b"{", headers={**PAGE, "origin": origin})
            assert (refused.status, refused.json["reason"]) == (403, "forbidden")
            assert "access-control-allow-origin" not in refused.headers
            asked = {**JSON, "origin": origin, "access-control-request-method": "POST"}
            assert app.call("OPTIONS", "/v1/reports", asked).status == 403
        assert app.post(body(report(2))).json["accepted"] == 1, "no page, no origin"
        counted = app.get("/v1/counters").json["counters"]
    assert {row["reason"] for row in counted} == {"accepted", "forbidden"}
    assert b"evil" not in b"".join(p.read_bytes() for p in tmp_path.iterdir() if p.is_file())


def test_the_own_pages_may_always_send(tmp_path: Path, store: SqliteStore) -> None:
    own = {**PAGE, "host": "localhost:8000", "origin": "http://localhost:8000"}
    with collector(tmp_path, store) as app:
        assert app.post(body(report(1)), headers=own).json["accepted"] == 1
        other = {**own, "origin": "http://localhost:8001"}
        assert app.post(body(report(2)), headers=other).status == 403


def test_a_page_needs_the_write_key(tmp_path: Path, store: SqliteStore) -> None:
    keys = hash_write_keys("sesame")
    with collector(tmp_path, store, origins=(SHOP,), write_key_hashes=keys) as app:
        page = {**PAGE, "origin": SHOP}
        assert app.post(body(report(1)), headers=page).status == 401
        asked = app.call("OPTIONS", "/v1/reports", {**JSON, "origin": SHOP})
        assert "authorization" in asked.headers["access-control-allow-headers"]
        keyed = {**JSON, "origin": SHOP, "authorization": "Bearer sesame"}
        assert app.post(body(report(1)), headers=keyed).json["accepted"] == 1


@pytest.mark.parametrize("origin", ["shop.example", "https://shop.example/", "https://Shop", "*"])
def test_origins_are_spelled_as_browsers_do(tmp_path: Path, origin: str) -> None:
    with pytest.raises(InvalidParameter, match="as browsers spell them"):
        Settings(tmp_path, tmp_path / "survey.json", origins=(origin,))


def test_origins_come_from_the_environment(tmp_path: Path) -> None:
    found = Settings.from_env(
        {"DENIABLE_ORIGINS": f"{SHOP}, http://localhost:8080"},
        data=tmp_path,
        survey_path=tmp_path / "survey.json",
    )
    assert found.origins == (SHOP, "http://localhost:8080")
    assert found.open_to_pages
    extension = "chrome-extension://biebkiebppcjkobkgjbkkhafllokhalk"
    assert Settings(tmp_path, tmp_path / "survey.json", origins=(extension,)).open_to_pages
    with pytest.raises(InvalidParameter, match="no web pages at all"):
        Settings(tmp_path, tmp_path / "survey.json", origins=(SHOP,), cors=False)
