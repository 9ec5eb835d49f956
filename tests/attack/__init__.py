"""Attack: a real server under every trouble at once, judged by books that share no code with it."""
