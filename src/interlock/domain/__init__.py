"""The domain: what is true. Pure nouns; no input, no output, no clock."""
