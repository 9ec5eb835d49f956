"""Pages: what people see in a browser. Each is built from reads, and rendered; nothing is decided here."""
