"""The machine of a recording: its GPU, processor, packages and commit."""
