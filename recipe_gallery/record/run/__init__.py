"""One run of a recipe in a fresh kernel: its outputs, its processes and its files."""
