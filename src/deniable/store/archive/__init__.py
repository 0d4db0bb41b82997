"""Closed epochs as Parquet files, for engines that read files: written, read and checked.

    ARCHIVE/archive.json                                           the format's number
    ARCHIVE/question=Q/version=V/digest=D/epoch=E/part-*.parquet
    ARCHIVE/simulated/question=Q/...                               reports of invented people

Public are the names of `__all__`; all other names of its modules are internal and may change.
"""

from deniable.store.archive.check import check_archive
from deniable.store.archive.reading import Archive
from deniable.store.archive.writing import Written, write_archive

__all__ = ["Archive", "Written", "check_archive", "write_archive"]
