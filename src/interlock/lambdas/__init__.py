"""Lambda functions: each parses its event, calls one use case, and answers as AWS expects."""
