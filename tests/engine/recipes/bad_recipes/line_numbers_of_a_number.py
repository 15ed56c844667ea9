"""
Title
=====
"""
# sphinx_gallery_line_numbers = 1
x = 1
# expect: bad_recipes/line_numbers_of_a_number.py:5: sphinx_gallery_line_numbers needs True or False
