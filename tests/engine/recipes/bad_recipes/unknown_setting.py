"""
Title
=====
"""
# sphinx_gallery_cell_timout = 900
x = 1
# expect: bad_recipes/unknown_setting.py:5: unknown setting sphinx_gallery_cell_timout; there are: alt,
