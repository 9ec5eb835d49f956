"""The whole AWS home on an emulator: real functions from the real package, applied by the real module."""
