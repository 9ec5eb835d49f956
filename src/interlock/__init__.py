"""Interlock: may this pipeline run now?"""

__version__ = "0.2.0"
