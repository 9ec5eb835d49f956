"""Adapters: how the ports are kept. One technology a module; families never import each other."""
