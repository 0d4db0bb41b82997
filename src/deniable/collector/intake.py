"""Taking a batch: what its request must say, which of its reports are taken, and the answer.

These are the only rules of `POST /v1/reports`. The application's route follows them, and so does
the HTTP server where it answers a plain request itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from starlette.responses import Response

from deniable.collector.admission import Admission, Admitted
from deniable.collector.auth import require_write_key
from deniable.collector.group_commit import GroupCommit
from deniable.collector.limits import declared_size, is_compact
from deniable.collector.problems import Problem
from deniable.collector.reading import Item, PackedBatch, split_batch
from deniable.collector.refusals import Refusals
from deniable.collector.settings import Settings
from deniable.collector.web_pages import is_own_page
from deniable.store.base import Appended

_NO_HEADERS: Mapping[str, str] = {}
SHORT_BODY = 4 * 2**10
"""A batch of a dozen or two reports, which takes less time than waiting for a turn."""


class Receipt(msgspec.Struct, frozen=True):
    """The answer to a batch. Every report of it is in exactly one of the three."""

    accepted: int
    duplicates: int
    problems: list[Problem]


class Intake:
    """The rules of one survey's batches.

    Attributes:
        admission: which reports are taken; another one when another survey is asked.

    Args:
        settings: the operator's choices.
        commits: the queue before the store.
        refusals: where refusals are counted.
        today: the number of the current UTC day.
    """

    def __init__(
        self,
        settings: Settings,
        commits: GroupCommit,
        refusals: Refusals,
        today: Callable[[], int],
    ) -> None:
        self.admission: Admission
        self.settings = settings
        self.commits = commits
        self._refusals = refusals
        self._today = today

    def open(self, headers: Mapping[str, str]) -> tuple[bool, int]:
        """Check the head of a request; return whether its body is compact, and its size at most.

        Raises:
            Refused: unauthorized, encoding, media_type, oversize, or busy.
        """
        require_write_key(headers, self.settings)
        compact = is_compact(headers, self.settings.open_to_pages or is_own_page(headers))
        size = declared_size(headers, self.settings.max_body)
        self.commits.look()
        return compact, size

    def open_to_anybody(self) -> None:
        """Check what `open` does of a request without a key, whose type and size are in order.

        Raises:
            Refused: unauthorized or busy.
        """
        require_write_key(_NO_HEADERS, self.settings)
        self.commits.look()

    def admit(self, body: bytes, compact: bool) -> Admitted:
        """Sort the reports of a short body, at once.

        Raises:
            Refused: body or batch_size.
        """
        return self.admission.admit(self._split(body, compact), self._today())

    async def admit_in_turn(self, body: bytes, compact: bool) -> Admitted:
        """Sort the reports of a long body in steps, when there is room for them.

        Raises:
            Refused: body, batch_size or busy.
        """
        await self.commits.room()
        items = self._split(body, compact)
        self.commits.look(len(items))
        return await self.admission.admit_in_turn(items, self._today())

    def receipt(self, admitted: Admitted, done: Appended) -> Response:
        """Count what was not taken, and return the answer to a batch that is durable."""
        for refusal in admitted.refusals:
            self._refusals.add(refusal.question, refusal.reason)
        problems = [Problem.of(r.reason, r.detail, index=r.index) for r in admitted.refusals]
        return json_response(Receipt(done.accepted, done.duplicates, problems))

    def _split(self, body: bytes, compact: bool) -> Sequence[Item] | PackedBatch:
        most = self.settings.max_batch
        return self.admission.split_packed(body, most) if compact else split_batch(body, most)


def json_response(answer: object) -> Response:
    """Return an answer in JSON."""
    return Response(msgspec.json.encode(answer), media_type="application/json")
