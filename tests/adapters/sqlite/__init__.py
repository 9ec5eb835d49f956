"""What the SQLite family promises beyond the ports."""
