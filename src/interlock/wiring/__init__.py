"""Wiring: which adapters serve which ports. The only place that sees use cases and adapters alike."""
