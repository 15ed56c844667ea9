"""
Title
=====
"""
# sphinx_gallery_deadline = 1e999
x = 1
# expect: bad_recipes/endless_deadline.py: sphinx_gallery_deadline needs a number of seconds
