"""Builds that do only what has changed: what they keep, and which pages Sphinx reads again."""
