"""
Title
=====
"""
# sphinx_gallery_fold = "One"

# %%
# Text.

x = 1
# expect: bad_recipes/fold_without_code.py:5: nothing of this code is shown, so there is nothing to fold; remove
