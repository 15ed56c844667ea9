"""
Title
=====
"""
# sphinx_gallery_deadline = 5
x = 1

# %%

# sphinx_gallery_deadline = 6
y = 1
# expect: bad_recipes/deadline_twice.py:10: sphinx_gallery_deadline is set a second time, first in line 5; remove one of them
