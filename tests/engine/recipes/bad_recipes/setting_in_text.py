"""
Title
=====
"""
# %%
# sphinx_gallery_alt = "A figure"
x = 1
# expect: bad_recipes/setting_in_text.py:6: a sphinx_gallery_ setting in a block of text
