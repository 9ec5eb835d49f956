"""Local: every port over one SQLite file, or over memory for simulations and tests."""
