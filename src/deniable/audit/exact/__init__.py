"""Proofs: the shipped encoders against the epsilon that a survey promises, in exact fractions.

`proofs` walks a survey; the other files read one kind of report off its encoder.
"""
