"""Record recipes: run them in a fresh kernel and keep their outputs; no build imports this."""
