"""Views on the device; the model stands in protocol/views.py."""

from __future__ import annotations

from deniable.client.encoders.cells import TableEncoder


class ViewsEncoder(TableEncoder):
    """Keeps the cell of one view, or moves it to one of the others."""
