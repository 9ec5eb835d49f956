"""API: the table of endpoints, and what reads and answers their requests."""
