"""Whether all of a text is there: still English, left out, cut off, emphasis lost."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ...catalogs import Kind, is_wordless
from ..message import Message, advice, check

_ENGLISH = re.compile(r"(?<![(（\"“A-Za-z])[A-Za-z][A-Za-z'’-]*(?:,?\s+[A-Za-z][A-Za-z'’-]*){3,}")
_TITLES = re.compile(r"(?<![`:\w])`([^`<]+?)(?: <[^<>]*>)?`_|\"([^\"]+)\"|“([^”]+)”")
_NO_LETTER = re.compile(r"[\W_]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_END = re.compile(r"[.!?](?=\s|$)|[。！？]")
_MARKUP = re.compile(r"``.+?``|:\w+:`[^`]*`|`[^`]*`__?")
_DIRECTIVE = re.compile(r"\.\. [\w-]+::")
_NEAR = 3  # messages between which a text is pasted
_ENOUGH = 10  # letters of a sentence that do not stand in two texts by chance


@check()
def check_untranslated(message: Message) -> Iterator[str]:
    """Sentences that are still the English ones.

    Bad: Measure with your own inputs. -> Measure with your own inputs.
    Good: Measure with your own inputs. -> 직접 쓰는 입력으로 측정합니다.
    """
    words = re.findall(r"[A-Za-z]{2,}", message.words[0])
    names_only = not any(word.islower() for word in words)
    same = message.translation.strip() == message.text.strip()
    if same and len(words) > 2 and not names_only and not is_wordless(message.text):
        yield "the translation is the English text; translate it"
    script = message.script
    if same or not script or not script.is_east_asian:
        return
    for found in _ENGLISH.findall(message.wording[1]):
        # titles of works are kept, which have capitals, or stand in quotes or links of the source
        lower = sum(word.islower() for word in found.split())
        if lower > 2 and found in message.wording[0] and not _is_title(found, message.text):
            yield f"still English: {found[:60]}; translate it"


def _is_title(text: str, source: str) -> bool:
    """Tell whether the words are those of a link or a quotation in the source."""
    return any(text in title for found in _TITLES.findall(source) for title in found)


@advice(of={Kind.PROSE, Kind.COMMENT}, scripts={"Kore", "Hans", "Hant"})
def check_length(message: Message) -> Iterator[str]:
    """Find translations that are much shorter or longer than those of such texts.

    Bad: one sentence of two  Good: both sentences
    """
    source, target = message.wording
    if not message.script or not (density := message.script.density):
        return
    letters = _count_letters(source)
    bounds = next((each for each in density if letters >= each[0]), None)
    if not bounds:
        return
    _from, least, most = bounds
    share = _count_letters(target) / letters
    if len(_END.findall(source)) > len(_END.findall(target)):
        least *= 1.25  # a sentence less: joined, or left out
    if share < least:
        yield "much shorter than texts of this length become; look whether a part is left out"
    elif share > most:
        yield "much longer than texts of this length become; look whether part of it is another's"


@lru_cache(maxsize=4096)
def _count_letters(text: str) -> int:
    return len(_NO_LETTER.sub("", text))


@advice(of={Kind.PROSE})
def check_emphasis(message: Message) -> Iterator[str]:
    """Bold or italics of the source that are lost, and stars that readers would see.

    Bad: ** 주의 ** 실행 전  Good: **주의** 실행 전
    """
    source, target = message.source, message.target
    if target.plain.count("*") > source.plain.count("*"):
        yield "a star that readers would see; close what it opens, with no space inside: **words**"
    elif target.strong < source.strong:
        yield "bold of the source is lost; put the words between two stars: **words**"
    elif target.emphasized < source.emphasized:
        yield "italics of the source are lost; put the words between stars: *words*"


@advice(of={Kind.PROSE})
def check_leftover(message: Message) -> Iterator[str]:
    """Signs of markup that readers would see: a backtick too many, a directive in a sentence.

    Bad: :doc:`/faq`` 참고  Good: :doc:`/faq` 참고
    """
    source, target = message.source, message.target
    if source.parts == target.parts and target.plain.count("`") > source.plain.count("`"):
        yield "a backtick that readers would see; leave it out, or close what it opens"
    if _DIRECTIVE.search(message.translation) and not _DIRECTIVE.search(message.text):
        yield "a directive, which readers would see as it is; leave it out"


def find_pasted(messages: Sequence[tuple[int, Message]]) -> Iterator[tuple[int, str]]:
    """Yield line and problem of translations that have a sentence of a message above."""
    sentences = [_long_sentences(message.translation) for _line, message in messages]
    for number, (line, message) in enumerate(messages):
        near = range(max(0, number - _NEAR), min(len(messages), number + _NEAR + 1))
        found = {
            other: common[0]
            for other in near
            if other != number
            and (common := [each for each in sentences[other] if each in message.translation])
        }
        above = next((other for other in found if other < number), None)
        if above is None or any(_share(messages[each][1].text, message.text) for each in found):
            continue
        yield (
            line,
            f"has a sentence of line {messages[above][0]}, whose English is another: "
            f"{found[above][:30]}; translate each of the two",
        )


def _long_sentences(text: str) -> list[str]:
    """Return the sentences of a text that do not stand in two texts by chance."""
    found = (each.strip() for each in _SENTENCE.split(text))
    return [each for each in found if len(_NO_LETTER.sub("", _MARKUP.sub("", each))) >= _ENOUGH]


def _share(one: str, other: str) -> bool:
    """Tell whether two texts have a sentence in common, apart from its markup."""
    first, second = (
        {_NO_LETTER.sub("", each).lower() for each in _SENTENCE.split(text)}
        for text in (one, other)
    )
    return bool(first & second)
