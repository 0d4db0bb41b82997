from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable.collector import Settings, hash_token, hash_write_keys
from deniable.errors import InvalidParameter

PLACES = {"DENIABLE_DATA": "/var/data", "DENIABLE_SURVEY_PATH": "survey.json"}


def test_the_environment_sets_every_kind_of_setting() -> None:
    found = Settings.from_env(
        {
            **PLACES,
            "DENIABLE_HOST": "10.1.2.3",
            "DENIABLE_PORT": "9000",
            "DENIABLE_CORS": "no",
            "DENIABLE_WRITE_KEY": "sesame",
            "DENIABLE_UNRELATED": "?",
        }
    )
    expected = Settings(
        "/var/data",
        Path("survey.json"),
        "10.1.2.3",
        9_000,
        hash_write_keys("sesame"),
        cors=False,
    )
    assert found == expected
    assert found.store_path == Path("/var/data/reports.sqlite3")


def test_what_is_given_wins_over_the_environment() -> None:
    found = Settings.from_env({**PLACES, "DENIABLE_PORT": "9000"}, port=1, host=None)
    assert (found.port, found.host) == (1, "127.0.0.1")


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "needs 'data'. Set DENIABLE_DATA."),
        ({**PLACES, "DENIABLE_PORT": "http"}, "DENIABLE_PORT must be a whole number. Got 'http'."),
        ({**PLACES, "DENIABLE_PORT": "70000"}, "must be an integer from 0 to 65535"),
        ({**PLACES, "DENIABLE_CORS": "maybe"}, "DENIABLE_CORS must be true or false"),
    ],
)
def test_a_bad_environment_is_said_plainly(environ: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Settings.from_env(environ)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"port": -1},
        {"port": True},
        {"accept_past_days": -1},
        {"max_batch": 0},
        {"max_batch": 1_001},
        {"max_body": 2**20 + 1},
        {"waiting_reports": 999},
        {"host": ""},
        {"analyst_token_hash": "abc"},
        {"analyst_token_hash": "A" * 64},
        {"write_key_hashes": ("sesame",)},
        {"write_key_hashes": ("0" * 64, "1" * 64, "2" * 64)},
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Settings(Path("a"), Path("b"), **changes)
    for secret in ("sesame", "AAAA"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("collector.example", False),
    ],
)
def test_loopback_is_known_by_its_address(host: str, loopback: bool) -> None:
    assert Settings(Path("a"), Path("b"), host=host).loopback is loopback


def test_secrets_are_not_shown() -> None:
    hashed = hash_token("0123456789abcdef")
    shown = repr(
        Settings(
            Path("a"),
            Path("b"),
            write_key_hashes=hash_write_keys("sesame"),
            analyst_token_hash=hashed,
        )
    )
    assert hash_write_keys("sesame")[0] not in shown
    assert hashed not in shown


def test_short_tokens_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="at least 16 characters") as caught:
        hash_token("guessable")
    assert "guessable" not in str(caught.value)
