"""
Title
=====
"""
# sphinx_gallery_tags = 5
x = 1
# expect: bad_recipes/tags_of_a_number.py:5: sphinx_gallery_tags needs a list such as ["a", "b"]
