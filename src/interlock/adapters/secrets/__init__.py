"""Secrets: references in files and settings, and masking what they stand for."""
