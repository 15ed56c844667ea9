"""Commands for translators: bring catalogs up to date, check them, tell what a change means."""

import argparse
from collections.abc import Sequence

from ..errors import GalleryError
from ..languages import Language, choose_languages, load_languages, require_listed
from ..project import Project
from .declare import LANGUAGES, TEMPLATES, argument, command


@command("update-po", LANGUAGES, TEMPLATES)
def update_po(project: Project, options: argparse.Namespace) -> None:
    """Bring the catalogs up to date with the sources."""
    from ..translate.update import update_catalogs

    languages = _translated_languages(project, options.languages)
    changed, told = update_catalogs(project, languages, options.templates)
    for path in changed:
        print(f"{'updated' if path.exists() else 'removed'} {path}")
    for line in told:
        print(line)
    count = len(changed)
    print(f"{count} files changed" if count else "all catalogs are up to date")


@command(
    "check-po",
    LANGUAGES,
    argument("--format", choices=("text", "github"), default="text"),
)
def check_po(project: Project, options: argparse.Namespace) -> bool:
    """Tell what is wrong with catalogs."""
    from ..search.synonyms import load_synonyms
    from ..translate.check import check_project, format_problems

    load_synonyms(project.locale, load_languages(project.root), project.config.language)
    problems = check_project(project, _translated_languages(project, options.languages))
    print(format_problems(problems, options.format))
    return not problems


@command("impact", argument("base", help="a commit or branch to compare with"))
def impact(project: Project, options: argparse.Namespace) -> None:
    """Tell what changed source text means to translators."""
    from ..translate.impact import find_impact

    print(find_impact(project, options.base))


def _translated_languages(project: Project, codes: Sequence[str] = ()) -> list[Language]:
    """Return the languages called ``codes``, or all but that of the sources."""
    known = load_languages(project.root)
    source = next(iter(known))
    if len(known) == 1 and not codes:
        require_listed(project.locale)
    if source in codes:
        raise GalleryError(f"{source} is the language of the sources; it has no catalogs")
    return choose_languages(project.root, codes or [code for code in known if code != source])
