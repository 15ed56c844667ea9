"""
Title
=====
"""
# sphinx_gallery_deadline =
x = 1
# expect: bad_recipes/value_on_the_next_line.py:5: sphinx_gallery_deadline needs a number of seconds above 0, at most 1,000,000; write the whole value
