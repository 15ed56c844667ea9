"""
Title
=====
"""
# sphinx_gallery_deadline = 5 s
x = 1
# expect: bad_recipes/value_with_unit.py:5: sphinx_gallery_deadline needs a number of seconds above 0, at most 1,000,000; write the whole value on this line
