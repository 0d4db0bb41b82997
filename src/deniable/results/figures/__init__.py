"""Pictures for pages: HTML and SVG that fit any width, follow the page's theme and need no script.

Every mark is named, can be reached by the keyboard, and says its value there and under a pointer.
Files and notebooks have the charts of `results.charts`, of the same tables.
"""

from deniable.results.figures.figure import figure_caption, figure_html

__all__ = ["figure_caption", "figure_html"]
