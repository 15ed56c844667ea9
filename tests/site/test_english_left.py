"""Translated pages have no English word that a reader would not expect there.

That all messages are translated, and that all text is in messages, is tested elsewhere. This reads
what came out: text, titles, alternative texts, labels of charts and what scripts show.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Comment, Doctype, Tag

from recipe_gallery.languages import Language
from site_pages import by_translation, read

# Where English is meant to stand, and why.
ENGLISH = {
    "code, pre, kbd, math, .recorded-output": "code, and what programs print",
    "em": "rows and columns of that output, which the text names",
    "script, style": "not read",
    "a.reference.external": "titles of English pages, and their authors",
    "p.copyright": "whose work it is",
    ".language-switcher, .name-of-language": "languages have names of their own",
    ".glossary-table [lang=en]": "the term beside its translation",
    ".provenance dd": "names of devices",
}
# Words that are the same in every language, and why.
NAMES = {
    "products, companies, formats, devices": """
        Accelerate BERT BERT-base Colab CPU CUDA Diffusers Face FlashAttention FSDP GPU
        GitHub Hub Hugging HTML JavaScript Jupyter Lightning Linux Markdown MathML Matplotlib
        NVIDIA NumPy Poedit PyTorch Python SVG Sphinx Sphinx-Gallery Studio Transformer
        Transformers Triton Visual Code
        WSL Weblate Windows cuBLAS cuDNN gettext git macOS pandas pickle torchvision
        transformers""",
    "parts of PyTorch, and what its users call so": """
        AOTAutograd Adafactor Adam AdamW Adamax Dynamo Inductor LBFGS Muon NAdam RAdam RMSprop
        ReLU SGD SparseAdam TF beta capability channels compute dropout epsilon last stance
        token""",
    "arms, modes and functions, as code and output call them": """
        compiled cos default eager for-loop foreach fused max-autotune-no-cudagraphs
        reduce-overhead resnet sin""",
    "rows and columns of output that the text names": """
        compilations full graphs intact nested overwritten""",
    "cases of evidence that are names of code": "capturable float fullgraph wave",
    "units": "GB MB TB kB min ms ns",
    "people, and this site": "Lazos Michael Call Second The authors sphinx",
    "keys": "Alt Ctrl-C Tab",
}

_KNOWN = {word for words in NAMES.values() for word in words.split()}
_WORD = re.compile(r"[A-Za-z](?:[A-Za-z'’-]*[A-Za-z])+")
_NO_WORD = re.compile(
    r"%\(\w+\)s"  # a place for a value
    r"|[\w./-]*\w[._=/]\w[\w.=/]*|\w+\(\)"  # torch.compile, fused=True, results.json, compile()
    r"|(?:[(（]|[,，、] ?)[A-Za-z][A-Za-z -]{1,30}[)）]"  # the original behind its translation
    r"|[A-Za-z]+(?=[(（][가-힣一-鿿])"  # an English word that is explained at once
    r"|run compiled"  # a column of output
    r"|add g² to v|all at once"  # labels of a chart that a cell draws
    r"|“[^“”가-힣一-鿿]*”"  # a button of GitHub, the message of a program
)
_NOT_SHOWN = ("data-mode", "data-ea-")  # of the theme


def find_texts(page: BeautifulSoup | Tag) -> Iterator[str]:
    """Yield what readers of a page meet, also in attributes."""
    for tag in page.find_all(True):
        for name, value in tag.attrs.items():
            if name in ("alt", "aria-label", "placeholder", "title"):
                yield value
            elif name.startswith("data-") and not name.startswith(_NOT_SHOWN):
                yield from _find_strings(value)
        if tag.get("property") == "og:title":  # a description repeats the first paragraph
            yield tag["content"]
    for text in page.find_all(string=True):
        if type(text) not in (Comment, Doctype):
            yield text


def _find_strings(value: Any) -> Iterator[str]:
    """Yield the texts in an attribute, which may be JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            yield value
            return
    if isinstance(value, list | dict):
        for each in value.values() if isinstance(value, dict) else value:
            if isinstance(each, str):
                yield each
            else:
                yield from _find_strings(each)


def find_english(text: str) -> set[str]:
    """Return the English words of a text."""
    return set(_WORD.findall(_NO_WORD.sub(" ", text))) - _KNOWN


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("torch.compile의 fused=True: 경과 시간(wall time)은 5 ms", set()),
        ("Adam을 컴파일, %(calls)s회, results.json", set()),
        ("경과 시간 2.6 ms against 17 ms", {"against"}),
        ("GPU가 waits", {"waits"}),
        ("“New issue”를 누르고 또 press", {"press"}),
        ("(where the GPU waits for the CPU, 5 ms)", {"where", "the", "waits", "for"}),
    ],
)
def test_english_words_are_found(text: str, found: set[str]) -> None:
    assert find_english(text) == found


def test_texts_of_attributes_are_found() -> None:
    labels = json.dumps({"failed": "one", "more": ["two", 3]})
    page = BeautifulSoup(
        f"<p title='four' data-mode='auto' data-done='five'>six<!-- no --></p>"
        f"<form data-labels='{labels}'></form><meta property='og:title' content='seven'>",
        "html.parser",
    )
    assert set(find_texts(page)) == {"one", "two", "four", "five", "six", "seven"}


@by_translation
def test_no_english_is_left_on_a_translated_page(languages_site: Path, language: Language) -> None:
    left = set()
    pages = (languages_site / language.code).rglob("*.html")
    for path in sorted([*pages, *languages_site.glob("*.html")]):
        if "_static" in path.parts:
            continue
        page = read(path)
        for found in page.select(", ".join(ENGLISH)):
            found.decompose()
        own = page.select_one(f'[lang="{language.tag}"]')  # pages at the root have all languages
        assert own, path
        assert not own.find(string=re.compile(r"%\(")), f"{path}: a place that nothing filled"
        for text in find_texts(own):
            if words := find_english(text):
                left.add((path.stem, " ".join(sorted(words)), " ".join(text.split())[:200]))
    assert not left, "translate it, or say in NAMES or ENGLISH why it stays"
