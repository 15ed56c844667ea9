"""Templates: the messages of each page and all labels, as translators get them."""
