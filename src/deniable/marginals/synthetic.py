"""Made-up profiles that look like the people's, drawn from the dependency tree.

They keep the share of each answer of each attribute, and the tables of the pairs that the tree
joins, as well as the smoothed tables have them. They do not keep the rest: pairs that the tree does
not join depend on each other only through the path between them, and nothing of three or more
attributes is kept beyond that. No profile is a person's: profiles are drawn from estimates that
were private already, so that drawing them costs no further epsilon, however many are drawn.
"""

from __future__ import annotations

import numpy as np

from deniable import _validate
from deniable.marginals.inference import TreeModel
from deniable.mechanisms.base import Codes

MOST_RECORDS = 10_000_000
KEEPS = (
    "Synthetic profiles are drawn from the dependency tree: they keep every attribute's shares and "
    "the tables of joined pairs. Other pairs depend on each other only along the tree, and nothing "
    "of three or more attributes is kept beyond that. They cost no further epsilon."
)


def sample_profiles(model: TreeModel, profiles: int, rng: np.random.Generator) -> Codes:
    """Return profiles drawn from the tree, a row each, a column of answers per attribute.

    Guarantees: the distribution is exactly the model's, up to the 53 bits of a float.

    Cost: linear in profiles times attributes times answers.

    Args:
        model: the tree with its probabilities.
        profiles: how many.
        rng: the only source of randomness. NumPy's generator is enough, since nothing here is
            anybody's value.

    Raises:
        InvalidParameter: if `profiles` is not from 1 to MOST_RECORDS.
    """
    profiles = _validate.integer("profiles", "sample_profiles", profiles, 1, MOST_RECORDS)
    codes = np.empty((profiles, len(model.tree.attributes)), dtype=np.int64)
    for attribute, parent in model.tree.order():
        if parent is None:
            steps = np.broadcast_to(np.cumsum(model.first), (1, len(model.first)))
            rows = np.zeros(profiles, dtype=np.int64)
        else:
            steps, rows = np.cumsum(model.given[attribute], axis=1), codes[:, parent]
        uniform = rng.random(profiles)
        # The last step is 1 up to rounding: it is left out, so that no code is too large.
        codes[:, attribute] = (uniform[:, None] >= steps[rows, :-1]).sum(axis=1)
    return codes
