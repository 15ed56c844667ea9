"""
Title
=====
"""
# sphinx_gallery_fold = "One"
x = 1
# sphinx_gallery_fold = "Two"
# expect: bad_recipes/fold_twice.py:7: sphinx_gallery_fold is set twice in this cell, first in line 5; remove one
