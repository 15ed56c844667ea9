"""Markup that differs from that of the source and shows a reader the same.

A translation may say the words inside of code in its own language, or link to the same page in its
own language. Whoever reads code is not led elsewhere by that: what a program would obey, names,
signs and the blanks between them, has to be the same. Code may be added if nobody could run it.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from ..languages import Language

Part = tuple[str, str]  # kind and value, as in ``Markup.parts``

# Letters that no Latin one can be mistaken for: kana, Chinese characters, Hangul
_OWN = "\u3005\u3040-\u30fa\u3400-\u9fff\uac00-\ud7a3"
_OWN_WORDS = re.compile(rf"[{_OWN}](?:[{_OWN}\u30fb\u30fc、。！？ ,.!?]*[{_OWN}\u30fc！？!?])?")
# What may stand in English for words of another language; no sign that a shell or Python obeys
_ENGLISH_WORDS = r"(?: *[A-Za-z][A-Za-z0-9 ,.!?'_-]*)?"
_WITH_ORIGINAL = re.compile(r"(?P<words>.*[^\s<]) ?<(?P<original>.+)>", re.DOTALL)
_WORDS_AND_SIGNS = re.compile(rf"[{_OWN}\u30fb\u30fc、。「」A-Za-z0-9 _.:,?\"'(){{}}-]+")
_STRING = re.compile(r"""(?P<quotes>'''|\"{3}|'|")(?P<text>.+)(?P=quotes)""", re.DOTALL)
# A name that the reader replaces: <your-package>, {name}
_PLACEHOLDER = re.compile(r"<[^\W\d][\w .-]*>|\{[^\W\d][\w -]*\}")
# Code that may be added, since it is one name, one sign or one version, and no command
_NO_COMMAND = re.compile(
    r"""
    [\w.+*-]+ (?:\(\))?  # a name: f(), .so, manylinux*
    | [^\x00-\x7f\s]+ (?:\x20 [^\x00-\x7f\s]+)*  # words in a script without Latin letters
    | [()\[\]{}.,]+  # signs
    | (["']) . \1  # a character
    | [\w.]* [<>=!~]= [\w.*]+  # a version: foo>=1.3
    """,
    re.VERBOSE,
)
_SPACED_SIGN = re.compile(r"\s*(==|!=|<=|>=|::|[=<>\[\]])\s*")
_PLURAL = re.compile(r"(?P<name>[A-Z][A-Za-z]+)s")

# Roles that name an object of a programming language and show that name as code
_OBJECT_ROLE = re.compile(
    r":(?:(?:py|c|cpp|js):)?(?:func|meth|class|exc|data|const|attr|mod|obj|type|member|macro|"
    r"var|struct|enum|enumerator|keyword|envvar):$"
)
_CODE_ROLE = re.compile(r":(?:file|command|samp|kbd|program|option|envvar):$")
# Roles that lead somewhere, and one of which makes an anchor and an entry of the index
_LEADING_ROLE = re.compile(r":(?:option|envvar):`(?!!)")
_BRACED_ROLE = re.compile(r":(?:samp|file):$")
_ROLE = re.compile(r"(?P<role>:[\w:+.-]*:)`(?P<target>.*)`", re.DOTALL)
_TERM_ROLE = ":term:"
_DEFAULT_ROLE = ":`:"  # as ``Markup`` names `text` without a role

_DOCUMENTATION = re.compile(r"(?:docs?|documentation|developer|learn)\.")
_ENGLISH = {"en", "en-us", "en-gb"}
# A page beside the articles of Wikipedia, such as User:Name; a title may hold "2:_The"
_BESIDE_ARTICLES = re.compile(r":(?!_)|\\|(?:^|/)\.\.?(?:/|$)")


@dataclass(frozen=True, kw_only=True)
class Differences:
    """How the markup of a translation differs from that of its source."""

    missing: list[Part]
    added: list[Part]
    equivalent: list[tuple[str, str]]  # what shows the same: in the source, in the translation
    left_out: list[str]  # code that the translation does without


def find_differences(
    source: Counter[Part], target: Counter[Part], *, text: str, words: str, language: Language
) -> Differences:
    """Compare the parts of a message with those of its translation into a language.

    ``text`` is the source text and ``words`` the translation without its markup.
    """
    missing = sorted((source - target).elements())
    added = sorted((target - source).elements())
    equivalent = _take_out_equivalent(missing, added, language)

    # What leads nowhere, or where the page leads anyway, may be said twice or once.
    missing = [part for part in missing if not (target[part] and _may_be_repeated(part))]
    added = [part for part in added if not (source[part] and _may_be_repeated(part))]

    # What the source shows as code, or says in plain words, may stand in the default role.
    code_of_source = {code_of(part) for part in source}
    for part in list(added):
        marked_words = _words_of_default_role(part)
        if marked_words and (marked_words in code_of_source or marked_words in text):
            added.remove(part)
            equivalent.append((marked_words, f"`{marked_words}`"))
            missing = [lost for lost in missing if code_of(lost) != marked_words]

    left_out: list[str] = []
    has_broken_code = re.search("[`\uff40]", words) is not None
    if not added and not has_broken_code:
        left_out = [value for kind, value in missing if kind == "literal"]
        missing = [part for part in missing if part[0] != "literal"]
    if not missing:  # code that explains is advice
        added = [part for part in added if not _may_be_added(part, text)]
    return Differences(missing=missing, added=added, equivalent=equivalent, left_out=left_out)


def _take_out_equivalent(
    missing: list[Part], added: list[Part], language: Language
) -> list[tuple[str, str]]:
    """Remove from both lists what shows the same; return it, in the source and the translation."""
    equivalent = []
    for lost in list(missing):
        for other in added:
            if _is_equivalent(lost, other, language):
                missing.remove(lost)
                added.remove(other)
                _kind, lost_value = lost
                _kind, other_value = other
                equivalent.append((lost_value, other_value))
                break
    return equivalent


def _may_be_repeated(part: Part) -> bool:
    """Tell what may be repeated where the source says "it", or the other way round."""
    kind, value = part
    if kind == "role":
        return value != _TERM_ROLE  # two may be of different terms
    return kind == "literal"


def _may_be_added(part: Part, text: str) -> bool:
    """Tell whether a part is code that nobody could run, or that the source has as words."""
    kind, value = part
    code = code_of(part)
    if not code or (kind == "role" and _LEADING_ROLE.match(value)):
        return False
    is_in_text = code in text or code[:1].upper() + code[1:] in text  # "Git clone"
    return is_in_text or (kind == "literal" and _NO_COMMAND.fullmatch(code) is not None)


def _is_equivalent(source: Part, target: Part, language: Language) -> bool:
    """Tell whether a part of a translation shows what one of its source does."""
    source_kind, source_value = source
    target_kind, target_value = target
    kinds = {source_kind, target_kind}
    if kinds == {"link"}:
        return is_same_page(source_value, target_value, language)
    if not kinds <= {"literal", "role"}:
        return False
    is_leading = target_kind == "role" and _LEADING_ROLE.match(target_value)
    if is_leading and source_value.partition("`")[0] != target_value.partition("`")[0]:
        return False
    if kinds == {"literal"}:
        code, other_code = _strip_backticks(source_value), _strip_backticks(target_value)
        return is_same_code(code, other_code) or has_stand_ins(code, other_code, language)
    code_of_source = code_of(source)
    if code_of_source and code_of_source == code_of(target):
        return True
    if code_of_source and has_stand_ins(code_of_source, code_of(target), language):
        return True
    return kinds == {"role"} and _is_same_object(source_value, target_value)


def code_of(part: Part) -> str:
    """Return what a part shows as code, if it leads nowhere."""
    kind, value = part
    if kind == "literal":
        return _strip_backticks(value)
    if kind != "role":
        return ""
    match = _ROLE.fullmatch(value)
    if match is None:
        return ""
    role, target = match["role"], match["target"]
    if _OBJECT_ROLE.match(role) and target.startswith("!"):
        return target[1:]
    if _CODE_ROLE.match(role):
        return target
    return ""


def _strip_backticks(literal: str) -> str:
    return literal[2:-2]


def _words_of_default_role(part: Part) -> str:
    """Return the words of a part in the default role; empty for other parts."""
    kind, value = part
    if kind != "role" or not value.startswith(_DEFAULT_ROLE):
        return ""
    return value.removeprefix(_DEFAULT_ROLE).strip("`")


def _is_same_object(source: str, target: str) -> bool:
    """Tell whether two roles name one object, or the same words of a file name."""
    ours, theirs = _ROLE.fullmatch(source), _ROLE.fullmatch(target)
    if ours is None or theirs is None:
        return False
    if ours["role"] == theirs["role"] and _BRACED_ROLE.match(ours["role"]):
        return is_same_code(ours["target"], theirs["target"])
    if not (_OBJECT_ROLE.match(ours["role"]) and _OBJECT_ROLE.match(theirs["role"])):
        return False
    name = ours["target"].lstrip("~.!")
    other_name = theirs["target"].lstrip("~.!")
    if not other_name:
        return False
    return name == other_name or name.endswith(f".{other_name}")


def is_same_code(source: str, target: str) -> bool:
    """Tell whether code differs in nothing but words in the translation's language, and blanks.

    Words are those of a script without Latin letters, of a string or of a placeholder. Names of
    classes may lose the ending of an English plural.
    """
    if target in (source, source.removesuffix("'s")):
        return True
    if target.endswith(" …") and source == target.replace("…", "..."):
        return True  # for arguments that are left out
    plural = _PLURAL.fullmatch(source)
    if plural and target == plural["name"]:
        return True
    bare_source = _without_blanks(source)
    if bare_source is not None and bare_source == _without_blanks(target):
        return True
    if _without_placeholders(source) == _without_placeholders(target):
        return not _has_more_blanks(target, source)
    explained = _WITH_ORIGINAL.fullmatch(target)
    if explained:
        beginning = source.removesuffix(explained["original"])  # which both may have: "Error: "
        is_whole = source.endswith(explained["original"]) and beginning[-1:] in ("", " ")
        is_whole = is_whole and explained["words"].startswith(beginning)
        return is_whole and _explains(explained["words"], source)
    return _has_own_words(source, target)


def _has_more_blanks(target: str, source: str) -> bool:
    """Tell whether a placeholder has more blanks than in the source: it would end a word early."""
    placeholders = zip(_PLACEHOLDER.findall(source), _PLACEHOLDER.findall(target), strict=True)
    return any(theirs.count(" ") > ours.count(" ") for ours, theirs in placeholders)


def _explains(words: str, source: str) -> bool:
    """Tell whether words before code are of the own language, beside those of the code."""
    if not re.search(f"[{_OWN}]", words) or not _WORDS_AND_SIGNS.fullmatch(words):
        return False
    english_words = set(re.findall("[A-Za-z0-9]+", words))
    return english_words <= set(re.findall("[A-Za-z0-9]+", source))


def _has_own_words(source: str, target: str) -> bool:
    """Tell whether code differs in words that the translation has in its own script.

    A pattern is made of the translation, with room for English in the place of each such word, and
    has to match the source.
    """
    if not re.search(f"[{_OWN}]", target):
        return False
    ours, theirs = _STRING.fullmatch(source), _STRING.fullmatch(target)
    if ours and theirs and ours["quotes"] == theirs["quotes"]:
        is_english = re.fullmatch(r"[A-Za-z ,.!?'\"]+", ours["text"])
        is_own = re.fullmatch(rf"[{_OWN}\u30fc ,.!?'\"]+", theirs["text"])
        if is_english and is_own:
            return True
    pattern = ""
    end = 0
    for words in _OWN_WORDS.finditer(target):
        pattern += re.escape(target[end : words.start()]) + _ENGLISH_WORDS
        end = words.end()
    pattern += re.escape(target[end:])
    return re.fullmatch(pattern, source) is not None


def _without_blanks(text: str) -> str | None:
    """Return code without blanks beside signs that compare or assign; None if others are left."""
    without_blanks_after_commas = re.sub(r",\s+", ",", text.strip())
    bare = _SPACED_SIGN.sub(r"\1", without_blanks_after_commas)
    if re.search(r"\s", bare):
        return None
    return bare


def _without_placeholders(text: str) -> str:
    """Return code in which only the brackets of placeholders are left: <> for <your-package>."""
    return _PLACEHOLDER.sub(lambda match: match[0][0] + match[0][-1], text)


def has_stand_ins(source: str, target: str, language: Language) -> bool:
    """Tell whether code differs in nothing but names that the language may replace.

    A name is no part of a longer one, and no option: with ``pkg = "pako"``, ``pip install pkg`` and
    ``pkg-1.0.zip`` may change, and neither ``pkgs``, ``my-pkg`` nor ``--pkg``.
    """
    if not language.stand_ins:
        return False
    own_names = dict(language.stand_ins)
    longest_first = sorted(own_names, key=len, reverse=True)
    names = "|".join(map(re.escape, longest_first))
    pattern = ""
    end = 0
    for match in re.finditer(rf"(?<![\w-])(?:{names})(?!\w|-[^\W\d])", source):
        name, own_name = match[0], own_names[match[0]]
        pattern += re.escape(source[end : match.start()])
        pattern += f"(?:{re.escape(name)}|{re.escape(own_name)})"
        end = match.end()
    pattern += re.escape(source[end:])
    return re.fullmatch(pattern, target) is not None


def is_named_by_project(source: str, target: str, language: Language) -> bool:
    """Tell whether ``languages.toml`` has what a translation says in place of its source."""
    return is_at_mirror(source, target, language) or has_stand_ins(source, target, language)


def is_at_mirror(source: str, target: str, language: Language) -> bool:
    """Tell whether an address leads to the page of another one at a mirror of the language."""
    return any(mirror.translate(source) == target for mirror in language.mirrors)


def is_same_page(source: str, target: str, language: Language) -> bool:
    """Tell whether an address leads to the page of another one, in a language.

    It may be at the same site, in Wikipedia, or at one of the language's mirrors.
    """
    if is_at_mirror(source, target, language):
        return True
    try:
        ours, theirs = urlsplit(source), urlsplit(target)
    except ValueError:
        return False
    if ours.scheme not in ("http", "https") or ours.scheme != theirs.scheme:
        return False
    tag = language.tag.lower()
    tags = {tag, tag.partition("-")[0]}
    if _is_wikipedia(ours, _ENGLISH) and _is_wikipedia(theirs, tags):
        return True
    if (ours.netloc, ours.fragment) != (theirs.netloc, theirs.fragment):
        return False
    names_language = not ours.query and theirs.query in {f"hl={tag}" for tag in tags}
    if ours.query != theirs.query and not names_language:
        return False
    our_path = ours.path.rstrip("/").split("/")
    their_path = theirs.path.rstrip("/").split("/")
    if our_path == their_path:
        return True
    for place, segment in enumerate(their_path):
        if _language_tag(segment) not in tags:
            continue
        their_rest = _leave_out(their_path, place)
        if their_rest == our_path and _DOCUMENTATION.match(ours.netloc):
            return True
        is_english = place < len(our_path) and _language_tag(our_path[place]) in _ENGLISH
        if is_english and their_rest == _leave_out(our_path, place):
            return True
    return False


def _language_tag(segment: str) -> str:
    """Return a segment of a path in the form of a language tag: pt-br for pt_BR."""
    return segment.lower().replace("_", "-")


def _leave_out(segments: list[str], place: int) -> list[str]:
    return [*segments[:place], *segments[place + 1 :]]


def _is_wikipedia(address: SplitResult, tags: Iterable[str]) -> bool:
    """Tell whether an address leads to an article of Wikipedia in one of some languages."""
    language, _dot, site = address.netloc.partition(".")
    if site != "wikipedia.org" or language not in tags or address.query:
        return False
    path = unquote(address.path)
    return path.startswith("/wiki/") and not _BESIDE_ARTICLES.search(path.removeprefix("/wiki/"))
