"""Checks of translations: what breaks a page, and what should be better."""
