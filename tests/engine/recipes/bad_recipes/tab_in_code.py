"""
Title
=====
"""
if True:
	x = 1
# expect: bad_recipes/tab_in_code.py:5: a tab in the code below; use spaces
