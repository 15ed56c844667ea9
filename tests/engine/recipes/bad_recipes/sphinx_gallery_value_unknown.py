"""
Title
=====
"""
# sphinx_gallery_multi_image = a b
x = 1
# expect: bad_recipes/sphinx_gallery_value_unknown.py:5: sphinx_gallery_multi_image needs a value as Python writes it; write the whole
