"""Tests of the adapters of jobs, and the contract that all types keep."""
