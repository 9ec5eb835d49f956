"""Web: the HTTP interface, asked in process."""
