"""The secret: made once, readable by its user only, refused when damaged."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deniable.client.randomness import SystemDraws
from deniable.client.secret import AccountSecret, SecretFile
from deniable.errors import InvalidParameter, RecordRefused
from deniable.protocol.prf import derive_key


def test_it_is_made_once_with_narrow_modes(tmp_path: Path) -> None:
    directory = tmp_path / "state"
    secret = SecretFile(directory, SystemDraws()).load()
    assert len(secret) == 32
    assert SecretFile(directory, SystemDraws()).load() == secret
    assert stat.S_IMODE((directory / "secret").stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert [path.name for path in directory.iterdir()] == ["secret"]  # nothing temporary remains


def test_two_devices_differ(tmp_path: Path) -> None:
    made = {SecretFile(tmp_path / name, SystemDraws()).load() for name in "abc"}
    assert len(made) == 3


RACER = """
import sys, time
from pathlib import Path
from deniable.client.randomness import SystemDraws
from deniable.client.secret import SecretFile
directory, moment = Path(sys.argv[1]), float(sys.argv[2])
while time.time() < moment:
    pass
sys.stdout.write(SecretFile(directory, SystemDraws()).load().hex())
"""


def test_processes_that_race_agree(tmp_path: Path) -> None:
    moment = str(time.time() + 0.6)
    command = [sys.executable, "-c", RACER, str(tmp_path), moment]
    racers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    found = {racer.communicate(timeout=30)[0] for racer in racers}
    assert found == {(tmp_path / "secret").read_bytes().hex()}


def test_without_hard_links_it_is_still_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError("not supported here")

    monkeypatch.setattr(os, "link", no_links)
    secret = SecretFile(tmp_path, SystemDraws()).load()
    assert SecretFile(tmp_path, SystemDraws()).load() == secret
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


@pytest.mark.parametrize("damaged", [b"", b"short", bytes(31), bytes(33), bytes(4096)])
def test_a_damaged_secret_is_refused_and_left_alone(tmp_path: Path, damaged: bytes) -> None:
    (tmp_path / "secret").write_bytes(damaged)
    with pytest.raises(RecordRefused) as caught:
        SecretFile(tmp_path, SystemDraws()).load()
    assert caught.value.reason == "secret"
    assert (tmp_path / "secret").read_bytes() == damaged


def test_wiping_overwrites_and_removes(tmp_path: Path) -> None:
    file = SecretFile(tmp_path, SystemDraws())
    secret = file.load()
    (tmp_path / "secret.0011.new").write_bytes(b"what a crash left behind........")
    os.link(tmp_path / "secret", tmp_path / "elsewhere")  # the same bytes on the disk
    file.wipe()
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]
    assert (tmp_path / "elsewhere").read_bytes() == bytes(32)
    file.wipe()  # a second time is no mistake
    assert file.load() != secret


def test_an_account_secret_is_derived_and_hidden() -> None:
    account = AccountSecret(b"sixteen bytes...")
    assert account.load() == derive_key(b"sixteen bytes...", b"account")
    assert "sixteen" not in repr(account)
    assert repr(SecretFile(Path("somewhere"), SystemDraws())) == "SecretFile(<hidden>)"


@pytest.mark.parametrize("weak", [b"", b"fifteen bytes..", "a string of 20 chars"])
def test_a_weak_account_secret_is_refused_unseen(weak: bytes) -> None:
    with pytest.raises(InvalidParameter) as caught:
        AccountSecret(weak)
    assert "fifteen" not in str(caught.value)
    assert "string" not in str(caught.value)


def test_a_crash_while_wiping_never_leaves_a_secret_of_zeros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = SecretFile(tmp_path, SystemDraws())
    secret.load()
    unlink = Path.unlink

    def crash(path: Path, missing_ok: bool = False) -> None:
        raise OSError("the process ends here")

    monkeypatch.setattr(Path, "unlink", crash)
    with pytest.raises(OSError, match="ends here"):
        secret.wipe()
    monkeypatch.setattr(Path, "unlink", unlink)
    assert any(SecretFile(tmp_path, SystemDraws()).load())
    secret.wipe()
    assert not list(tmp_path.iterdir())  # what the crash left is gone as well
