"""
Title
=====
"""
# sphinx_gallery_inputs = ["../conftest.py"]
x = 1
# expect: bad_recipes/input_outside.py:5: input '../conftest.py' is not a file below
