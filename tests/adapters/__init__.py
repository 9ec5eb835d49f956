"""What the adapters of each technology promise beyond their ports."""
