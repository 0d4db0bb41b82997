"""Reading a body that may be too long, too slow, or not what it should be."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import lru_cache

from starlette.requests import ClientDisconnect, Request

from deniable.collector.bodies import Share
from deniable.collector.problems import Refused
from deniable.collector.reasons import Reason
from deniable.protocol.compact import MEDIA_TYPE as COMPACT
from deniable.protocol.report import MAX_BATCH_BYTES, MEDIA_TYPE

_PATIENCE_BYTES = 2 * MAX_BATCH_BYTES
"""A body that is too large is still read so far, and thrown away.

A client that is cut off in the middle sees a broken connection instead of the answer, and would
send the same again; with the answer it splits the batch. Beyond this no honest client goes.
"""

_CLOSE = {"connection": "close"}
_FROM_PAGES = ("text/plain", "utf-8")


def is_compact(headers: Mapping[str, str], from_page: bool) -> bool:
    """Tell whether the body is said to be a compact batch; False for one in JSON.

    JSON may also be called `text/plain;charset=UTF-8`, as a web page sends it that is being left.
    For that type browsers ask no permission first, so it counts only where pages have it.

    Raises:
        Refused: media_type or encoding.
    """
    encoding = headers.get("content-encoding")
    if encoding is not None and encoding.strip().lower() != "identity":
        raise Refused(
            Reason.ENCODING,
            "Send the body without 'content-encoding': a batch is small.",
            {"accept-encoding": "identity"},
        )
    media, charset = _media_type(headers.get("content-type", ""))
    if media == COMPACT and not charset:
        return True
    json = media == MEDIA_TYPE and charset in ("", "utf-8")
    if not json and not (from_page and (media, charset) == _FROM_PAGES):
        raise Refused(
            Reason.MEDIA_TYPE,
            f"Send the body with 'content-type: {MEDIA_TYPE}', in UTF-8, or {COMPACT}.",
        )
    return False


@lru_cache(64)
def _media_type(text: str) -> tuple[str, str]:
    """Return the media type and the character set of a `content-type`, in lower case."""
    media, _, parameters = text.partition(";")
    return media.strip().lower(), parameters.strip().lower().removeprefix("charset=").strip('"')


def declared_size(headers: Mapping[str, str], limit: int) -> int:
    """Return the declared size of the body; `limit` if none is declared or it is larger.

    Raises:
        Refused: oversize, if it is so large that it is not read at all.
    """
    declared = headers.get("content-length")
    if declared is None:
        return limit
    if not declared.isdecimal() or len(declared) > 12 or int(declared) > _patience(limit):
        raise _oversize(limit, _CLOSE)
    return min(int(declared), limit)


async def read_body(request: Request, limit: int, seconds: float, share: Share) -> bytes:
    """Return the body, at most `limit` bytes of it in memory at any time.

    Raises:
        Refused: oversize, slow, or body if the sender hung up.
    """
    patience = _patience(limit)
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds) as deadline:
            share.reading(deadline)
            async for part in request.stream():
                size += len(part)
                if size > patience:
                    raise _oversize(limit, _CLOSE)
                if size <= limit:
                    parts.append(part)
    except TimeoutError:
        detail = f"A body must arrive within {seconds:g} seconds, or sooner where others wait."
        raise Refused(Reason.SLOW, detail, _CLOSE) from None
    except ClientDisconnect:
        raise Refused(Reason.BODY, "The body ended early. Send it again.", _CLOSE) from None
    if size > limit:
        raise _oversize(limit)
    share.read(size)
    return b"".join(parts)


def _patience(limit: int) -> int:
    return max(limit, _PATIENCE_BYTES)


def _oversize(limit: int, headers: dict[str, str] | None = None) -> Refused:
    detail = f"A body must have at most {limit:,} bytes. Split the batch."
    return Refused(Reason.OVERSIZE, detail, headers)
