"""Lifecycle: the state machine file as data, its interpreter, and the modes its tasks call."""
