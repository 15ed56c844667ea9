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

Part = tuple[str, str]  # kind and value, as in ``Markup.parts``

# Letters that no Latin one can be mistaken for: kana, Chinese characters, Hangul
_OWN = "\u3005\u3040-\u30fa\u3400-\u9fff\uac00-\ud7a3"
_OWN_WORDS = re.compile(rf"[{_OWN}](?:[{_OWN}\u30fb\u30fc、。！？ ,.!?]*[{_OWN}\u30fc！？!?])?")
# What may stand in English for words of another language; no sign that a shell or Python obeys
_ENGLISH_WORDS = r"(?: *[A-Za-z][A-Za-z0-9 ,.!?'_-]*)?"
_WITH_ORIGINAL = re.compile(r"(?P<words>.+\S) <(?P<original>.+)>", re.DOTALL)
_WORDS_AND_BRACKETS = re.compile(rf"[{_OWN}\u30fb\u30fcA-Za-z0-9 _.:,?(){{}}-]+")
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
_CODE_ROLE = re.compile(r":(?:file|command|literal|samp|kbd|program|option|envvar):$")
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
    source: Counter[Part], target: Counter[Part], *, text: str, words: str, code: str
) -> Differences:
    """Compare the parts of a message with those of its translation into the language ``code``.

    ``text`` is the source text and ``words`` the translation without its markup.
    """
    missing = sorted((source - target).elements())
    added = sorted((target - source).elements())
    equivalent: list[tuple[str, str]] = []
    for lost in list(missing):
        other = next((part for part in added if _is_equivalent(lost, part, code)), None)
        if other is not None:
            missing.remove(lost)
            added.remove(other)
            _kind, lost_value = lost
            _kind, other_value = other
            equivalent.append((lost_value, other_value))
    # What leads nowhere, or where the page leads anyway, may be said twice or once.
    missing = [part for part in missing if not (target[part] and _may_be_repeated(part))]
    added = [part for part in added if not (source[part] and _may_be_repeated(part))]
    shown = {_code_of(part) for part in source}
    for part in list(added):
        words = _words_of_default_role(part)
        if words and (words in shown or words in text):
            added.remove(part)
            equivalent.append((words, f"`{words}`"))
            missing = [lost for lost in missing if _code_of(lost) != words]
    left_out: list[str] = []
    has_broken_code = re.search("[`\uff40]", words) is not None
    if not added and not has_broken_code:
        left_out = [value for kind, value in missing if kind == "literal"]
        missing = [part for part in missing if part[0] != "literal"]
    if not missing:  # code that explains is advice
        added = [part for part in added if not _may_be_added(part, text)]
    return Differences(missing=missing, added=added, equivalent=equivalent, left_out=left_out)


def _may_be_repeated(part: Part) -> bool:
    """Tell what may be repeated where the source says "it", or the other way round."""
    kind, value = part
    return kind == "literal" or (kind == "role" and value != _TERM_ROLE)  # which may be another


def _may_be_added(part: Part, text: str) -> bool:
    """Tell whether a part is code that nobody could run, or that the source has as words."""
    kind, value = part
    code = value[2:-2]
    return kind == "literal" and (_NO_COMMAND.fullmatch(code) is not None or code in text)


def _is_equivalent(source: Part, target: Part, code: str) -> bool:
    """Tell whether a part of a translation shows what one of its source does."""
    source_kind, source_value = source
    target_kind, target_value = target
    kinds = {source_kind, target_kind}
    if kinds == {"link"}:
        return is_same_page(source_value, target_value, code)
    if not kinds <= {"literal", "role"}:
        return False
    is_leading = target_kind == "role" and _LEADING_ROLE.match(target_value)
    if is_leading and source_value.partition("`")[0] != target_value.partition("`")[0]:
        return False
    if kinds == {"literal"}:
        return is_same_code(source_value[2:-2], target_value[2:-2])  # without backticks
    if _code_of(source) and _code_of(source) == _code_of(target):
        return True
    return kinds == {"role"} and _is_same_object(source_value, target_value)


def _code_of(part: Part) -> str:
    """Return what a part shows as code, if it leads nowhere."""
    kind, value = part
    if kind == "literal":
        return value[2:-2]
    match = _ROLE.fullmatch(value) if kind == "role" else None
    if match is None:
        return ""
    if _OBJECT_ROLE.match(match["role"]) and match["target"].startswith("!"):
        return match["target"][1:]
    return match["target"] if _CODE_ROLE.match(match["role"]) else ""


def _words_of_default_role(part: Part) -> str:
    kind, value = part
    is_default = kind == "role" and value.startswith(_DEFAULT_ROLE)
    return value.removeprefix(_DEFAULT_ROLE).strip("`") if is_default else ""


def _is_same_object(source: str, target: str) -> bool:
    """Tell whether two roles name one object, or the same words of a file name."""
    ours, theirs = _ROLE.fullmatch(source), _ROLE.fullmatch(target)
    if ours is None or theirs is None:
        return False
    if ours["role"] == theirs["role"] and _BRACED_ROLE.match(ours["role"]):
        return is_same_code(ours["target"], theirs["target"])
    if not (_OBJECT_ROLE.match(ours["role"]) and _OBJECT_ROLE.match(theirs["role"])):
        return False
    name, other = (each["target"].lstrip("~.!") for each in (ours, theirs))
    return bool(other) and (name == other or name.endswith(f".{other}"))


def is_same_code(source: str, target: str) -> bool:
    """Tell whether code differs in nothing but words in the translation's language, and blanks.

    Words are those of a script without Latin letters, of a string or of a placeholder. Names of
    classes may lose the ending of an English plural.
    """
    plural = _PLURAL.fullmatch(source)
    if target in (source, source.removesuffix("'s"), plural and plural["name"]):
        return True
    if _without_blanks(source) == _without_blanks(target) is not None:
        return True
    if _without_placeholders(source) == _without_placeholders(target):
        pairs = zip(_PLACEHOLDER.findall(source), _PLACEHOLDER.findall(target), strict=True)
        return all(ours.count(" ") >= theirs.count(" ") for ours, theirs in pairs)
    if explained := _WITH_ORIGINAL.fullmatch(target):
        words = explained["words"]
        if explained["original"] != source or not re.search(f"[{_OWN}]", words):
            return False
        english = set(re.findall("[A-Za-z0-9]+", source))
        is_wordy = _WORDS_AND_BRACKETS.fullmatch(words)
        return bool(is_wordy) and set(re.findall("[A-Za-z0-9]+", words)) <= english
    return _has_own_words(source, target)


def _has_own_words(source: str, target: str) -> bool:
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
    bare = _SPACED_SIGN.sub(r"\1", re.sub(r",\s+", ",", text.strip()))
    return None if re.search(r"\s", bare) else bare


def _without_placeholders(text: str) -> str:
    return _PLACEHOLDER.sub(lambda match: match[0][0] + match[0][-1], text)


def is_same_page(source: str, target: str, code: str) -> bool:
    """Tell whether an address leads to the page of another one, in the language ``code``."""
    try:
        ours, theirs = urlsplit(source), urlsplit(target)
    except ValueError:
        return False
    if ours.scheme not in ("http", "https") or ours.scheme != theirs.scheme:
        return False
    tags = {code.lower().replace("_", "-"), code.lower().partition("_")[0]}
    if _is_wikipedia(ours, _ENGLISH) and _is_wikipedia(theirs, tags):
        return True
    if (ours.netloc, ours.fragment) != (theirs.netloc, theirs.fragment):
        return False
    own_queries = {f"hl={tag}" for tag in tags}
    if ours.query != theirs.query and not (not ours.query and theirs.query in own_queries):
        return False
    path, other = (each.path.rstrip("/").split("/") for each in (ours, theirs))
    if path == other:
        return True
    for place, segment in enumerate(other):
        if segment.lower().replace("_", "-") not in tags:
            continue
        rest = [*other[:place], *other[place + 1 :]]
        if rest == path and _DOCUMENTATION.match(ours.netloc):
            return True
        is_english = place < len(path) and path[place].lower().replace("_", "-") in _ENGLISH
        if is_english and rest == [*path[:place], *path[place + 1 :]]:
            return True
    return False


def _is_wikipedia(address: SplitResult, tags: Iterable[str]) -> bool:
    """Tell whether an address leads to an article of Wikipedia in one of some languages."""
    language, _dot, site = address.netloc.partition(".")
    if site != "wikipedia.org" or language not in tags or address.query:
        return False
    path = unquote(address.path)
    return path.startswith("/wiki/") and not _BESIDE_ARTICLES.search(path.removeprefix("/wiki/"))
