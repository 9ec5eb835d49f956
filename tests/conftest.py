"""The suites share what stands in this folder; with this file here, pytest finds it."""
