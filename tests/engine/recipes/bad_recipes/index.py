"""
Title
=====
"""
x = 1
# expect: bad_recipes/index.py: its page would be that of the gallery; call the recipe something else
