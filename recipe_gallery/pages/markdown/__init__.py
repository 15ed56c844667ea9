"""Text of a page as Markdown, for the notebook and the script.

Markdown is what notebooks hold and what reads well in the comments of a script. Where it has no
form for something (a cell over two columns, a superscript, a list counted in letters), HTML is
written that Jupyter shows, with Markdown inside of it.

``write_block`` and ``write_inline`` are asked for each node. An extension that brings nodes of its
own says with ``write_block.register(its_node, function)`` what a notebook has of them.
"""

from . import lists, tables  # noqa: F401 (they register what they write)
from .blocks import bold_line, join_blocks, plain_code, write_block, write_heading
from .escape import escape
from .inline import join_inline, write_inline
from .page import Page

__all__ = [
    "Page",
    "bold_line",
    "escape",
    "join_blocks",
    "join_inline",
    "plain_code",
    "write_block",
    "write_heading",
    "write_inline",
]
