"""Web: the HTTP interface. Each row of the table of endpoints parses, calls one operation, and renders."""
