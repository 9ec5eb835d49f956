"""The promises of the ports, stated once and held by every family of adapters."""
