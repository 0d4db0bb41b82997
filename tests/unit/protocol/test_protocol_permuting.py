"""Permutations of closed domains: bijections, the same for one code and for all."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.mechanisms.permuting import all_ranks, code_words
from deniable.protocol import permuting
from deniable.protocol.permuting import ranks

INDICES = [0, 5, 65536 * 3 + 1, 4 << 40]


@pytest.mark.parametrize("size", [1, 2, 3, 17, 100])
@pytest.mark.parametrize("index", INDICES)
def test_ranks_are_a_permutation_and_the_vectorised_twin_agrees(size: int, index: int) -> None:
    one_by_one = [ranks(code, size, [index])[0] for code in range(size)]
    assert sorted(one_by_one) == list(range(size))
    assert all_ranks(size, index).tolist() == one_by_one


def test_several_hash_functions_at_once() -> None:
    together = ranks(3, 20, INDICES)
    assert together == [ranks(3, 20, [index])[0] for index in INDICES]
    assert len({tuple(all_ranks(20, index)) for index in INDICES}) == len(INDICES)


def test_equal_words_are_ordered_by_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words never collide in practice, so the hash is made to."""
    monkeypatch.setattr(permuting, "hash_word", lambda words, index: 7)
    assert [ranks(code, 5, [0])[0] for code in range(5)] == [0, 1, 2, 3, 4]


def test_the_kept_words_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        code_words(4)[0, 0] = np.uint64(1)
