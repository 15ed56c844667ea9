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
    help="also fail if something is left to translate or to revise, as before a release",
)


@command("update-po", LANGUAGES, TEMPLATES)
def update_po(project: Project, options: argparse.Namespace) -> None:
    """Bring the catalogs up to date with the sources."""
    from ..translate.update_po import update_catalogs

    require_extension(project, "translate")
    languages = _translated_languages(project, options.languages)
    changed_files, report = update_catalogs(project, languages, options.templates)
    for path in changed_files:
        print(f"changed {visible_line(str(path))}")
    for line in report:
        print(visible_line(line))
    if changed_files:
        print(f"{len(changed_files)} files changed")
    else:
        print("all catalogs are up to date")


@command("check-po", LANGUAGES, COMPLETE)
def check_po(project: Project, options: argparse.Namespace) -> bool:
    """Report mistakes in catalogs, and what is left to translate."""
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
    with_catalogs = sorted(path.parent.name for path in project.locale.glob("*/LC_MESSAGES"))
    if len(languages) == 1 and not codes and with_catalogs:
        names = ", ".join(map(visible_line, with_catalogs))
        problem = f"there are catalogs, but their languages are not in {FILE_NAME}: {names}"
        remedy = f"for each, run: {suggest('new-language', with_catalogs[0])}"
        raise GalleryError(problem, path=project.locale, remedy=remedy)
    if source in codes:
        raise GalleryError(f"{source} is the language of the sources; it has no catalogs")
    if not codes:
        codes = [code for code in languages if code != source]
    return choose_languages(project.root, codes, source)
