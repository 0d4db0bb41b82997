"""MargPS on the device; the model stands in protocol/marg_ps.py."""

from __future__ import annotations

from deniable.client.encoders.cells import TableEncoder


class MargPSEncoder(TableEncoder):
    """Keeps the cell of one table of k attributes, or moves it to one of the others."""
