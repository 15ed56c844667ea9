"""What is told of a wrong name: which names are similar; and where an empty line is missing."""

import os

import pytest

from tests.helpers.gallery import Gallery


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (":mesured:`a.wall`", 'Unknown interpreted text role "mesured"; similar: measured'),
        (".. imag:: a.png", 'Unknown directive type "imag"; similar: image'),
        (".. code-block:: python\n   :colour: red\n\n   1", '"colour"; choose among: force, '),
        (
            ".. code-block:: python\n   :caption: A\n   x = 1",
            "invalid option block; write each as :name: value, and leave an empty line above the",
        ),
        (
            ".. code-block:: python\n   x = 1",
            "maximum 1 argument(s) allowed, 4 supplied; leave an empty line above the content",
        ),
        (
            ".. code-block:: python\n   caption: What changes\n\n   x = 1",
            "maximum 1 argument(s) allowed, 4 supplied; did you mean :caption:?",
        ),
        (".. code-block:: python\n   :caption What\n\n   x = 1", "; did you mean :caption:?"),
        (".. code-block:: python x = 1\n\n   x = 1", "allowed, 4 supplied.\n"),  # none is missing
        (
            ".. image:: nope.png",
            "image file not readable: nope.png; put a file there, or correct the path, which may "
            "begin at the folder of conf.py: /_static/picture.png",
        ),
        (".. code-block:: pyhton\n\n   x = 1", "name 'pyhton' is not known; similar: python"),
        (".. zigzag::", 'type "zigzag"; there are, for example: note, tip, warning, code-block'),
        (":torch:`bmm`", 'role "torch"; write code as ``code``, and a link as `words <address>`__'),
        ("It is **so.", "without end-string; write ** right behind the last bold word"),
        ("It is ``so.", "without end-string; write `` right behind the code"),
        ("It is `so.", "without end-string; write ` right behind its last letter"),
        ("As here [1]_.", 'target name: "1"; write its footnote below: .. [1] and its words'),
        ("See here_.", 'target name: "here"; write a link as `words <address>`__, and no _'),
        ("So.\n\n  One\ntwo.", "unexpected unindent; begin the lines above where this one begins"),
        ("- One\ntwo.", "unexpected unindent; indent this line as the words of the item above"),
        (".. note::\n\n   One\ntwo.", "unexpected unindent; indent this line as the content above"),
        (":doc:`/recipes/ading`", "unknown document: '/recipes/ading'; similar: /recipes/adding"),
        (":doc:`nowhere at all`", "unknown document: 'nowhere at all'"),
        (
            ".. _a-place:\n\nA place\n-------\n\n:ref:`a-plase`",
            "undefined label: 'a-plase'; similar: a-place",
        ),
        (":ref:`nowhere`", "undefined label: 'nowhere' ["),
    ],
)
def test_what_to_do_is_told(gallery: Gallery, text: str, told: str) -> None:
    gallery.add()
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n{text}\n")
    warnings = gallery.build(nitpicky=True).warnings
    assert warnings.count("WARNING") + warnings.count("ERROR") == 1
    assert told in warnings


def test_what_to_do_with_a_page_beside_all_menus_is_told(gallery: Gallery) -> None:
    gallery.add()
    (gallery.root / "more.rst").write_text("More\n====\n")
    warnings = gallery.build().warnings
    told = "document isn't included in any toctree; name it in a toctree of another page, such as"
    assert told in warnings
    assert "or write :orphan: above its title" in warnings


@pytest.mark.parametrize("label", ["sphx_glr_recipes_broken.py", "its place", "ITS   place"])
def test_a_label_of_a_recipe_without_a_page_is_told(gallery: Gallery, label: str) -> None:
    gallery.add()
    gallery.write("broken", '"""\nT\n=\n\n.. _its place:\n\nWords.\n"""\nprint(\n')
    os.mkfifo(gallery.recipes / "a_pipe.py")  # which nobody may read while looking for the label
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n:ref:`words <{label}>`\n")
    warnings = gallery.build(nitpicky=True).warnings
    assert "syntax error: '(' was never closed" in warnings
    told = "recipes_source/broken.py has it, which has no page until it can be read: mend it first"
    assert told in warnings
    assert "similar:" not in warnings
    assert warnings.count("WARNING") == 3  # of the pipe, too
