"""
Title
=====
"""
# sphinx_gallery_inputs = ["no_title.py"]
x = 1
# expect: bad_recipes/input_like_a_page.py:5: input 'no_title.py' would take the place of a page
