"""Adapters: implementations of the ports. One technology per module; families never import each other."""
