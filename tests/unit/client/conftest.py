"""The environment of whoever runs the tests must not decide about consent."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _no_consent_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    monkeypatch.delenv("DENIABLE_CONSENT", raising=False)
