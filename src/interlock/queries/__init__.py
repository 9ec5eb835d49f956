"""Queries: questions about pipelines, runs and events. Each loads, asks the domain, and returns a struct."""
