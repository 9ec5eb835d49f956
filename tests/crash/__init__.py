"""Crash: the real process, killed at random moments, and an accountant who trusts nothing."""
