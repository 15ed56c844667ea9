"""
Title
=====
"""
# sphinx_gallery_fold = True
x = 1
# expect: bad_recipes/fold_of_no_string.py:5: sphinx_gallery_fold needs a string in quotes, on one line
