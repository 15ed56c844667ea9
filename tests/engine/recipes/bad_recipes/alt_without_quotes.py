"""
Title
=====
"""
# sphinx_gallery_alt = A figure
x = 1
# expect: bad_recipes/alt_without_quotes.py:5: sphinx_gallery_alt needs a string in quotes
