"""
Title
=====
"""
# sphinx_gallery_start_ignore
x = 1
# expect: bad_recipes/ignore_without_end.py:5: All "sphinx_gallery_start_ignore" flags must have a matching
