"""Lambda functions: each parses what it is called with, calls one use case, and answers as AWS expects."""
