"""
Title
=====
"""

def f():
# %%
    return 1
# expect: bad_recipes/cell_cut_in_the_middle.py:6: syntax error: expected an indented block
