"""The version of the engine, which is not that of a site."""

__version__ = "0.1.0"
