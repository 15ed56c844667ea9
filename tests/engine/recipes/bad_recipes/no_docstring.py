print("text first")
# expect: bad_recipes/no_docstring.py:1: no docstring; start the recipe with one
