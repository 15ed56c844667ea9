"""
Title
=====
"""
# sphinx_gallery_alt = "one\ntwo"
x = 1
# expect: bad_recipes/alt_of_two_lines.py:5: sphinx_gallery_alt needs a string in quotes, on one line
