"""
Title
=====
"""
# sphinx_gallery_thumbnail_path = 5
x = 1
# expect: bad_recipes/thumbnail_path_of_a_number.py:5: sphinx_gallery_thumbnail_path needs a string in quotes
