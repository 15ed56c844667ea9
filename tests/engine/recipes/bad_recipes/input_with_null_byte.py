"""
Title
=====
"""
# sphinx_gallery_inputs = ["a\0b"]
x = 1
# expect: bad_recipes/input_with_null_byte.py:5: input 'a\x00b' cannot be read: embedded null byte; correct the line
