"""Use cases: each on the local adapters in memory, with a clock and jobs that do what a test says."""
