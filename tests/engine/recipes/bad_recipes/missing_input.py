"""
Title
=====
"""
# sphinx_gallery_inputs = ["data/none.csv"]
x = 1
# expect: bad_recipes/missing_input.py:5: input 'data/none.csv' is not a file below
