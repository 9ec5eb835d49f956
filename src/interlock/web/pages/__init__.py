"""Pages: what people see in a browser. Each page runs queries and renders the results; it decides nothing."""
