"""A survey for the people who are asked: what is collected, how, and what could be learned.

Public are `disclose`, the facts in sentences; their pages, `page_html` and `page_markdown`; and
`save_disclosure`, which writes them with the entry for the registry of deployments; and
`read_language`, which reads their sentences as somebody translated them. Other names of these
modules are internal.
"""

from deniable.results.disclosure.facts import Disclosure, disclose
from deniable.results.disclosure.files import save_disclosure
from deniable.results.disclosure.language import Language, read_language
from deniable.results.disclosure.page import page_html, page_markdown

__all__ = [
    "Disclosure",
    "Language",
    "disclose",
    "page_html",
    "page_markdown",
    "read_language",
    "save_disclosure",
]
