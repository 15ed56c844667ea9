""""""
# expect: bad_recipes/no_title.py:1: no title; start the docstring with one
