"""
Title
=====
"""
# sphinx_gallery_dummy_images = 'x'
x = 1
# expect: bad_recipes/dummy_images_in_words.py:5: sphinx_gallery_dummy_images needs a whole number
