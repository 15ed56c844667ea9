"""A recipe and its recording as data: no Sphinx application, no kernel."""
