"""
Title
=====
"""

x = = 1
# expect: bad_recipes/syntax_error.py:6: syntax error: invalid syntax; mend the code
