"""A catalog beside its template: what is missing, and what no page has."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polib

from ...errors import GalleryError, suggest
from ..catalogs import is_wordless, line_of, read_catalog, shorten, split_path
from ..checks.problems import Problem
from ..similar import pair_similar
from .kept import KeptTemplates, Template

_NAMED = 3  # messages that are told one by one

Finding = tuple[int, str, str]  # line, what and what to do, name of the check


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What is known of the catalogs at hand."""

    templates: dict[Path, Template]  # by catalog, of those that have one
    owners: dict[str, str]  # pages by message
    problems: tuple[Problem, ...]  # of what is not there


def expect(kept: KeptTemplates, catalogs: Iterable[Path], languages: Collection[str]) -> Expected:
    """Return what catalogs have to hold; of ``languages`` all catalogs have to be there."""
    places: dict[str, tuple[Path, str, str]] = {}
    for path in catalogs:
        _locale, code, domain = split_path(path)
        place = os.path.abspath(path)
        if place == os.path.abspath(kept.catalog_of(domain, code)):
            places[place] = path, code, domain
    wanted = {
        (code, domain, os.path.abspath(kept.catalog_of(domain, code)))
        for code in languages
        for domain in kept.domains
    }
    absent = sorted(each for each in wanted if each[2] not in places)
    if not kept.exist:
        text = "there are no templates, so nobody knows which messages pages have"
        told = [_tell(kept.folder, text, "template")] if (places or wanted) and kept.pages else []
        return Expected(templates={}, owners={}, problems=tuple(told))
    templates, problems = {}, []
    for path, code, domain in places.values():
        template = kept.of_catalog(domain, code, _entries(path) if domain in kept.labels else ())
        if template:
            templates[path] = template
        elif domain not in kept.pages and any(not entry.obsolete for entry in _entries(path)):
            problems.append(_tell(path, f"there is no page {domain}", "unknown", code))
    for code, domain, _place in absent:
        template = kept.of_catalog(domain, code, ())
        if template and template.kinds and not template.stale:
            text = "no such catalog, so the page is in English"
            problems.append(_tell(kept.catalog_of(domain, code), text, "missing", code))
    asked = {domain for _path, _code, domain in places.values()}
    for domain in sorted(asked | {domain for _code, domain, _place in absent}):
        problems += _tell_stale(kept, domain)
    owners = {
        text: domain
        for domain in (kept.domains if templates else ())
        if (template := kept.of_page(domain))
        for text in template.kinds
    }
    return Expected(templates=templates, owners=owners, problems=tuple(problems))


def _tell_stale(kept: KeptTemplates, domain: str) -> Iterator[Problem]:
    template = kept.of_page(domain)
    if template and template.stale:
        yield _tell(template.path, template.stale, "template")
    elif not template and domain in kept.pages:
        yield _tell(kept.path_of(domain), "no such template: the page is new", "template")


def _tell(path: Path, text: str, check: str, code: str = "") -> Problem:
    remedy = suggest("update-po", *filter(None, [code]))
    return Problem(path=path, line=1, message=f"{text}; run: {remedy}", check=check)


def _entries(path: Path) -> Sequence[polib.POEntry]:
    try:
        return read_catalog(path)
    except GalleryError:  # told by who checks it
        return ()


def compare(
    catalog: Sequence[polib.POEntry], template: Template, code: str, owners: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield where a catalog has other messages than its template."""
    update = f"run: {suggest('update-po', code)}"
    live = {entry.msgid: entry for entry in reversed(catalog) if not entry.obsolete}
    put_away = {entry.msgid: entry for entry in catalog if entry.obsolete}
    for entry in live.values():
        if entry.msgctxt is not None:
            text = "msgctxt, which no message has, so that none is found; remove its line"
            yield line_of(entry), text, "context"
    missing = [text for text in template.kinds if text not in live and not is_wordless(text)]
    for text in [each for each in missing if each in put_away]:
        missing.remove(text)
        told = f"obsolete (#~), but the page has it: {shorten(text)}; {update}"
        yield line_of(put_away[text]), told, "obsolete"
    unknown = [text for text in live if text not in template.kinds]
    owner = _owner(unknown, owners)
    edited = {} if owner else pair_similar(unknown, missing)
    for text, true in edited.items():
        told = f"the English text is another on the page: {shorten(true)}; {update}"
        yield line_of(live[text]), told, "unknown"
    unknown = [text for text in unknown if text not in edited]
    missing = [text for text in missing if text not in edited.values()]
    if len(unknown) > _NAMED:
        line = min(line_of(live[text]) for text in unknown)
        told = f"{len(unknown)} messages that the page does not have{owner}"
        yield line, f"{told}; {update}", "unknown"
    else:
        for text in unknown:
            told = f"the page does not have this message: {shorten(text)}; {update}"
            yield line_of(live[text]), told, "unknown"
    if missing:
        order = list(template.kinds)
        before = [live[text] for text in order[: order.index(missing[0])] if text in live]
        line = line_of(before[-1]) if before else 1
        many = f"{len(missing)} messages of the page are missing, the first is"
        one = "a message of the page is missing:"
        told = f"{one if len(missing) == 1 else many} {shorten(missing[0])}; {update}"
        yield line, told, "missing"


def _owner(unknown: Collection[str], owners: Mapping[str, str]) -> str:
    """Name the page that has most of the messages."""
    pages = Counter(owners[text] for text in unknown if text in owners)
    page, count = max(pages.items(), key=lambda each: each[1], default=("", 0))
    return f"; {page} has them" if 2 * count > len(unknown) else ""
