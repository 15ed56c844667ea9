"""Charts of measurements: drawn at build time, with words of the reader's language."""
