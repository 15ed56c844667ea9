"""Right translations that readers get, as stock Sphinx shows them."""

import pytest

from tests.helpers.gallery import Gallery

PAGE = r"""
Using base_prefix
=================

Replace <your package> by its name.

Weak linking is rare.

A :dfn:`logger` writes lines.

Water is H\ :sub:`two`\ O.

See the :term:`Tensor` below.

The class is the same.

It calls ``f()`` now.

Call sys.base_prefix here.

Read the `manual <https://docs.python.org/3/>`__.

A ``(key, value)`` pair of ``__class__``.

Write ``:ref:`label``` there.

.. glossary::

   Tensor
      An array.
"""
FRENCH = {
    "Using base_prefix": "Utiliser base_prefix",
    "Replace <your package> by its name.": "Remplacez <votre paquet> par son nom.",
    "Weak linking is rare.": "Un lien <weak linking> est rare.",
    "A :dfn:`logger` writes lines.": "Un :dfn:`journal (logger)` écrit des lignes.",
    "Water is H\\ :sub:`two`\\ O.": "L'eau est H\\ :sub:`deux`\\ O.",
    "See the :term:`Tensor` below.": "Voir le :term:`Tenseur` ci-dessous.",
    "The class is the same.": "La *classe* est la même.",
    "It calls ``f()`` now.": "Il appelle ``f()`` et ``g()``.",
    "Call sys.base_prefix here.": "Appelez sys.base_prefix ici.",
    "Read the `manual <https://docs.python.org/3/>`__.": (
        "Lire le `manuel <https://docs.python.org/fr/3/>`__."
    ),
    "A ``(key, value)`` pair of ``__class__``.": "Un couple ``(key, value)`` de `__class__`.",
    "Write ``:ref:`label``` there.": "Écrivez ``:ref:`label``` là.",
    "Tensor": "Tenseur",
    "An array.": "Un tableau.",
}
KOREAN = {
    "Using base_prefix": "base_prefix 쓰기",
    "Weak linking is rare.": "약한 연결 <weak linking>은 드뭅니다.",
    "Call sys.base_prefix here.": "여기서 sys.base_prefix를 부릅니다.",
    "A ``(key, value)`` pair of ``__class__``.": "\\__class__의 ``(키, 값)`` 쌍입니다.",
    "Write ``:ref:`label``` there.": "거기에 ``:ref:`label```라고 씁니다.",
}


@pytest.mark.parametrize(
    ("code", "translations", "shown"),
    [
        (
            "fr",
            FRENCH,
            [
                "&lt;votre paquet&gt;",
                "&lt;weak linking&gt;",
                "journal (logger)</em>",
                "<sub>deux</sub>",
                'href="#term-Tensor"',
                ">Tenseur</span></a>",
                "<em>classe</em>",
                '<span class="pre">g()</span>',
                'href="https://docs.python.org/fr/3/"',
                "<em>__class__</em>",
                '<span class="pre">:ref:`label`</span></code> là',
            ],
        ),
        (
            "ko",
            KOREAN,
            [
                "base_prefix 쓰기",
                "sys.base_prefix를",
                "&lt;weak linking&gt;은",
                "<p>__class__의",
                '<span class="pre">:ref:`label`</span></code>라고',
                '<span class="pre">(키,</span> <span class="pre">값)</span>',
            ],
        ),
    ],
)
def test_a_right_translation_is_on_the_page(
    site: Gallery, code: str, translations: dict[str, str], shown: list[str]
) -> None:
    site.set_languages(code)
    (site.root / "page.rst").write_text(f":orphan:\n{PAGE}")
    site.translate("page", translations, language=code)
    build = site.build(language=code)
    assert "page.po" not in build.warnings
    assert "inconsistent" not in build.warnings
    page = build.page("page")
    assert [text for text in shown if text not in page] == []
