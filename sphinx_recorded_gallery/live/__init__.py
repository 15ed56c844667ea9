"""One language in a browser that follows every save."""
