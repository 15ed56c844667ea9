"""
Title
=====
"""
# sphinx_gallery_deadline = 1e999
x = 1
# expect: bad_recipes/endless_deadline.py:5: sphinx_gallery_deadline needs a number of seconds
