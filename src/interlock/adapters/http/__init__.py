"""HTTP: the client for outgoing requests, and the guard that decides where they may go."""
