"""Secrets: references in files and settings, and the masking of their values."""
