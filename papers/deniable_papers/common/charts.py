"""The look that all figures share; audits have the same one."""

from deniable.results.charts.look import COLOURS, LOOK, altair, colours, data_of, styled

__all__ = ["COLOURS", "LOOK", "altair", "colours", "data_of", "styled"]
