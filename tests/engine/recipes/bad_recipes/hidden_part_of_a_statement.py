"""
Title
=====
"""
def f():
    # sphinx_gallery_start_ignore
    return 1
    # sphinx_gallery_end_ignore

f()
# expect: bad_recipes/hidden_part_of_a_statement.py:5: what is shown of this code cannot be parsed without what is hidden; hide whole statements only
