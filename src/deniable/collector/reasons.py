"""The collector's reasons of refusal. They are the protocol's words: clients decide by them."""

from __future__ import annotations

from deniable.protocol.reasons import PROBLEM_MEDIA_TYPE, REPORT_REASONS, Reason

__all__ = ["PROBLEM_MEDIA_TYPE", "REPORT_REASONS", "Reason"]
