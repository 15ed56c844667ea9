"""
Title
=====
"""
# sphinx_gallery_deadline = "soon"
x = 1
# expect: bad_recipes/setting_of_wrong_type.py:5: sphinx_gallery_deadline needs a number of seconds
