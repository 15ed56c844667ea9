"""Modules for Korean and Chinese for Sphinx's own search, which ``search.py`` compares.

They do what Sphinx offers to languages: words are pairs of neighbouring characters, in the index
and in the query.
"""

import re

from sphinx.application import Sphinx
from sphinx.search import SearchLanguage, languages

_PARTS = re.compile(r"[A-Za-z0-9_]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")


class Pairs(SearchLanguage):
    """Letters in words; Korean and Chinese in pairs of characters."""

    language_name = "Pairs"
    js_stemmer_code = "class Stemmer { stemWord(word) { return word; } }"
    js_splitter_code = r"""
function splitQuery(query) {
  const parts = query.match(/[A-Za-z0-9_]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+/g) || [];
  return parts.flatMap((part) => /^[A-Za-z0-9_]/.test(part) || part.length < 3 ? [part]
    : [...part.slice(1)].map((_, at) => part.slice(at, at + 2)));
}
"""

    def split(self, input: str) -> list[str]:  # noqa: A002 (Sphinx's name)
        """Return the words of a text; pairs also reach over spaces between characters."""
        text = re.sub(r"(?<=[\u3040-\uffff])\s+(?=[\u3040-\uffff])", "", input)
        words = []
        for part in _PARTS.findall(text):
            if part[0] < "\u3040" or len(part) < 3:
                words.append(part)
            else:
                words += [part[at : at + 2] for at in range(len(part) - 1)]
        return words

    def word_filter(self, word: str) -> bool:
        """Keep all words."""
        return len(word) > 1

    def stem(self, word: str) -> str:
        """Return the word in small letters."""
        return word.lower()


def setup(app: Sphinx) -> None:
    """Offer the modules to Sphinx."""
    languages.update(ko=Pairs, zh=Pairs)
