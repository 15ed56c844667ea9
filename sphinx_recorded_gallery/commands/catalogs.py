"""Commands for translators: bring catalogs up to date, and check them."""

import argparse
from collections.abc import Sequence

from ..errors import GalleryError, suggest, visible_line
from ..languages import FILE_NAME, Language, choose_languages, load_languages
from ..project import Project, require_extension
from .arguments import LANGUAGES, TEMPLATES, argument, command

COMPLETE = argument(
    "--complete",
    action="store_true",
    help="fail also where something is left to translate or to revise, as before a release",
)


@command("update-po", LANGUAGES, TEMPLATES)
def update_po(project: Project, options: argparse.Namespace) -> None:
    """Bring the catalogs up to date with the sources."""
    from ..translate.update_po import update_catalogs

    require_extension(project, "translate")
    languages = _translated_languages(project, options.languages)
    changed, told = update_catalogs(project, languages, options.templates)
    for path in changed:
        print(f"changed {visible_line(str(path))}")
    for line in told:
        print(visible_line(line))
    count = len(changed)
    print(f"{count} files changed" if count else "all catalogs are up to date")


@command("check-po", LANGUAGES, COMPLETE)
def check_po(project: Project, options: argparse.Namespace) -> bool:
    """Tell what is wrong with catalogs, and what is left to translate, which is no mistake."""
    from ..search.synonyms import load_synonyms
    from ..translate.check_po import LEFT, check_project, format_problems

    require_extension(project, "translate")
    source = project.config.language
    load_synonyms(project.locale, load_languages(project.root, source), source)
    problems = check_project(project, _translated_languages(project, options.languages))
    print(format_problems(problems))
    allowed = frozenset() if options.complete else LEFT
    return all(problem.check in allowed for problem in problems)


def _translated_languages(project: Project, codes: Sequence[str] = ()) -> list[Language]:
    """Return the languages called ``codes``, or all but that of the sources."""
    languages = load_languages(project.root, project.config.language)
    source = next(iter(languages))
    if len(languages) == 1 and not codes and any(project.locale.glob("*/LC_MESSAGES")):
        problem = f"catalogs, but no language of theirs in {FILE_NAME}"
        remedy = f"for each, run: {suggest('new-language', 'ko')}"
        raise GalleryError(problem, path=project.locale, remedy=remedy)
    if source in codes:
        raise GalleryError(f"{source} is the language of the sources; it has no catalogs")
    codes = codes or [code for code in languages if code != source]
    return choose_languages(project.root, codes, source)
