# -*- coding: nosuch -*-
"""
Title
=====
"""
x = 1
# expect: bad_recipes/unknown_encoding.py:1: cannot be parsed: 
