"""What cells put out as a recording holds it: unchanged, valid, and harmless on a page."""
