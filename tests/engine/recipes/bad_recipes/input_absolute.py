"""
Title
=====
"""
# sphinx_gallery_inputs = ["/etc/hostname"]
x = 1
# expect: bad_recipes/input_absolute.py:5: input '/etc/hostname' is not a file below
