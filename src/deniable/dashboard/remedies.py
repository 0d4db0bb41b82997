"""Remedies: sentences for an operator about refused reports, by the reason of the refusal."""

from __future__ import annotations

from deniable.collector.reasons import Reason

REMEDIES: dict[Reason, str] = {
    Reason.SCHEMA: "Look at the newest release of the app: something else than a client of ours "
    "sends, or a proxy changes bodies.",
    Reason.UNKNOWN_QUESTION: "Serve the survey.json that apps ship: publish onto the old file, so "
    "that withdrawn questions stay known. Devices try again.",
    Reason.UNKNOWN_VERSION: "Serve the newest survey.json: apps are ahead of this collector, and "
    "try again.",
    Reason.DIGEST: "A question changed without a new version. Raise its version, and publish; "
    "these reports are lost.",
    Reason.EXPIRED: "Nothing, if the question should have ended. Else raise its expiry, publish, "
    "and ship the survey.",
    Reason.TOO_EARLY: "A few are devices whose clocks run ahead; they try again. If all are, set "
    "this machine's clock.",
    Reason.TOO_LATE: "A few are devices that were off for long. If it grows, look whether apps "
    "can reach this address.",
    Reason.RECORD: "Somebody sends records that no client makes. See docs/audit.md for what "
    "crafted reports can do.",
    Reason.SEGMENTS: "Apps send labels that the survey does not have. Declare them, or mend the "
    "app's segments.",
    Reason.HTTP: "A proxy or a scanner speaks otherwise. Look at the proxy's settings.",
    Reason.BODY: "Look at what sends: it is no client of ours, or a proxy changes bodies.",
    Reason.BATCH_SIZE: "Clients halve such batches by themselves; others should send fewer.",
    Reason.OVERSIZE: "Clients halve such batches by themselves; others should send less.",
    Reason.SLOW: "Slow networks; clients try again. If it grows, look at the proxy's timeouts.",
    Reason.MEDIA_TYPE: "Something else than a client of ours sends; old collectors refuse newer "
    "clients so, which then send JSON.",
    Reason.ENCODING: "A proxy compresses requests. Turn that off.",
    Reason.UNAUTHORIZED: "Give the app the write key of this collector, or set both keys while "
    "you rotate. Devices try again.",
    Reason.FORBIDDEN: "Allow the web page's origin with --origin, or set an analyst token.",
    Reason.HOST: "Tell the proxy to pass the host's name on, or bind to the address that is used.",
    Reason.NOT_FOUND: "Look at the address that apps send to, and at the proxy's routes.",
    Reason.QUERY: "Nothing about reports: an address of the dashboard was written wrongly.",
    Reason.METHOD: "A scanner, or a proxy that turns POST into GET: look at its redirects.",
    Reason.BUSY: "The disk is slower than the senders. Devices try again; see docs/operate.md.",
    Reason.STORE: "Look at disk and store: deniable store check. Devices try again.",
    Reason.INTERNAL: "A fault of ours: the collector's log names it. Please report it.",
}
"""A sentence for every reason; a test compares the keys."""


def remedy(reason: str) -> str:
    """Return the remedy of a reason; a store may hold reasons of other versions."""
    return REMEDIES[Reason(reason)] if reason in set(Reason) else "Ask the version that wrote it."
