"""Headlines: measurements that a page names in its own words, as a table or as a plot."""
