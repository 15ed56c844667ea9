"""
Title
=====
"""
# sphinx_gallery_raises = "KeyError"
# sphinx_gallery_raises = "ValueError"
x = 1
# expect: bad_recipes/raises_twice.py:6: sphinx_gallery_raises is set twice in this cell, first in line 5
