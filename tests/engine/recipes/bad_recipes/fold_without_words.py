"""
Title
=====
"""
# sphinx_gallery_fold = " "
x = 1
# expect: bad_recipes/fold_without_words.py:5: sphinx_gallery_fold needs a string in quotes, on one line, that is not empty; correct the value
