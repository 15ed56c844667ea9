"""Recipes are run here; a build never imports this."""
