"""Settings of the site's generator; docs/site/build.py puts its sources together."""

from __future__ import annotations

from deniable import __version__

project = "Deniable"
author = "The Deniable authors"
project_copyright = "the Deniable authors, under Apache-2.0"
release = version = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "none"
nitpicky = True

html_theme = "furo"
html_title = "Deniable"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {"navigation_with_keys": True}
html_show_search_summary = False  # it would fetch pages, which a browser refuses from the disk
