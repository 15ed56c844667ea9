"""
Title
=====
"""
# %%
# Text.
# sphinx_gallery_start_ignore
x = 1
# sphinx_gallery_end_ignore
# expect: bad_recipes/ignore_in_text.py:7: a sphinx_gallery_ setting in a block of text; leave an empty line
