"""
Title
=====
"""
# sphinx_gallery_thumbnail_number = two
x = 1
# expect: bad_recipes/thumbnail_number_in_words.py:5: sphinx_gallery_thumbnail_number needs a whole number; write
