"""The domain: what is true. Pure data and functions; no I/O, no clock."""
