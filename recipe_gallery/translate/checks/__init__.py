"""What may be wrong with a translation."""
