"""Alerting: which alerts go where, in which thread, and when."""
