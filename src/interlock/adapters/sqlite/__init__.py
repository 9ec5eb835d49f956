"""Local backend: every port over one SQLite file, or in memory for simulations and tests."""
