"""The sinks of alerts."""
