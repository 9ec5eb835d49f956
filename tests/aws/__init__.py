"""The AWS home: its stand-ins, and the tests of what is only there."""
