"""
Title
=====
"""

x = 1

# %%
# sphinx_gallery_fold = "One"

x = 2
# expect: bad_recipes/fold_in_text.py:9: a sphinx_gallery_ setting in a block of text; leave an empty line
