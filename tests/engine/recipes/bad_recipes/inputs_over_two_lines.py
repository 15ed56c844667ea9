"""
Title
=====
"""
# sphinx_gallery_inputs = ["no_title.txt",
#     "other.txt"]
x = 1
# expect: bad_recipes/inputs_over_two_lines.py:5: sphinx_gallery_inputs needs a list such as ["data.csv"]; write the whole value
