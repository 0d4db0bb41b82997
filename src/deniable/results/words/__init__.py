"""Tables in plain English: the conclusions that they allow, and those that they do not.

Public are `in_words` of `shares`, and `association_words` of `association`. They are not imported
here: shares are put into words without the mathematics of associations. Other names are internal.
"""

__all__: list[str] = []
