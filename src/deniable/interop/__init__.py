"""Other systems' files, read into our nouns and written from them.

Public are the modules named in `__all__`; names that begin with an underscore are internal.
"""

__all__ = ["google_files", "google_rappor", "google_reports"]
