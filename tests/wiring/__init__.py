"""Wiring: settings, the home, and the real `interlock serve` as a process."""
