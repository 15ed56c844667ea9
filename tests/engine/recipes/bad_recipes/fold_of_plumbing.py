"""
Title
=====
"""
# sphinx_gallery_fold = "One"
# sphinx_gallery_plumbing = True
x = 1
# expect: bad_recipes/fold_of_plumbing.py:5: nothing of this code is shown, so there is nothing to fold; remove
