"""How far crafted reports can move a result, in closed form: of estimates, profiles and tables."""
