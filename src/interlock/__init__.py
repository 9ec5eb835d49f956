"""Interlock: may this pipeline run now?"""

__version__ = "0.1.0"
