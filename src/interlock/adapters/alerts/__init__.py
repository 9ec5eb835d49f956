"""Alerts: the channels to people."""
