"""Reasons for which a value is not reported: a closed set, each with its sentence.

The sentences are fixed, so that no message can ever hold a value.
"""

from __future__ import annotations

from deniable.errors import LedgerLost, RecordRefused, StoreError

REASONS = {
    "no_consent": "There is no consent: call opt_in() after the person has agreed.",
    "unknown_question": "The survey has no such question: check the id against survey.json.",
    "type": "The value has the wrong type for the question's domain.",
    "not_a_number": "The value must be a number, not NaN.",
    "unknown_category": "The value is not one of the question's categories.",
    "too_long": "A string must have at most 4,096 bytes of UTF-8.",
    "too_many": "The set has more members than the question allows.",
    "bad_unicode": "A string must not hold unpaired surrogates.",
    "alphabet": "The string has a character outside of the question's alphabet.",
    "missing_field": "The value must have every field of the question.",
    "unknown_field": "The value has a field that the question has not.",
    "expired": "The question's last day of collection is past.",
    "answered": "This question was answered already in this epoch (or for ever, if asked once).",
    "changed": "The question changed without a new version: publish it with a higher version.",
    "ceiling": "The report would exceed the client's ceiling of epsilon.",
    "window": "The report would exceed the client's budget of epsilon per window of days.",
    "outbox_full": "Too many reports wait to be sent: nothing was reported, nothing was spent.",
    "queue_full": "Too many values wait for the client's thread: call record less often.",
    "storage": "The client's directory cannot be read or written: check the disk and the modes.",
    "lost": "The client's database is missing or empty, though this directory has had one. It held "
    "what the device has disclosed, so it is not begun anew. Put it back, or delete the whole "
    "directory to begin as a new device.",
    "secret": "The secret file is damaged: opt out and in again to make a new one.",
    "clock": "The clock does not give a day that a report can carry.",
    "closed": "The client is closed.",
    "internal": "Something unexpected happened in the client.",
}
"""Reasons that strict clients raise and all clients count, per question (or "" without one)."""

UPLOAD_REASONS = {
    "uploaded": "The collector answered for the report.",
    "stale": "The report waited until its epoch had ended too long ago to be accepted.",
    "unreachable": "The collector could not be reached; the upload is tried again.",
    "bad_response": "The collector's answer was not understood; the upload is tried again.",
    "bad_survey": "The fetched survey was refused and the old one kept.",
}
"""Reasons that uploads count besides.

Also by the words of `deniable.protocol.reasons`: `refused_REASON` for a report that the collector
refused for good, and which was dropped; `waiting_REASON` for each time that it refused one for now
(`waiting_other` for a reason that this version does not know); and `status_NNN` for an upload that
was answered with another HTTP status than 200 and is tried again.
"""


def refused(reason: str) -> RecordRefused:
    """Return the error for a reason of the closed set, ready to be raised."""
    return RecordRefused(reason, REASONS[reason])


def reason_of(error: StoreError) -> str:
    """Return the word by which a failure of the client's directory is counted."""
    return "lost" if isinstance(error, LedgerLost) else "storage"
