"""Commands that build the site, and those for translators."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path

from ..errors import GalleryError, suggest
from ..languages import Language, choose_languages, load_languages, require_listed
from ..project import Project
from .declare import LANGUAGES, TEMPLATES, argument, command


@command(
    "html",
    LANGUAGES,
    argument("--build", type=Path, default=Path("_build"), help="folder for what is made"),
    argument("--sphinx-options", type=shlex.split, default=[], help="handed to sphinx-build"),
)
def html(project: Project, options: argparse.Namespace) -> bool:
    """Render the site in all languages at the same time."""
    from .html import build_site

    languages = choose_languages(project.root, options.languages)
    build = Path.cwd() / options.build
    return build_site(project, build, languages, options.sphinx_options)


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


@command(
    "live",
    argument("language", help="its code, such as ko"),
    argument("--build", type=Path, default=Path("_build/live"), help="folder for what is made"),
    argument("--port", type=int, default=8000),
    argument("--editor-link", help="address of a line in an editor, such as x://{path}:{line}"),
)
def live(project: Project, options: argparse.Namespace) -> None:
    """Serve one language and follow every save."""
    from ..live.server import EDITOR, Live, run

    if not options.language:
        raise GalleryError("which language?", remedy=f"for example: {suggest('live', 'ko')}")
    language = choose_languages(project.root, [options.language])[0]
    editor = EDITOR if options.editor_link is None else options.editor_link
    run(Live(project, Path.cwd() / options.build, language, editor), options.port)


def _translated_languages(project: Project, codes: Sequence[str] = ()) -> list[Language]:
    """Return the languages called ``codes``, or all but that of the sources."""
    known = load_languages(project.root)
    source = next(iter(known))
    if len(known) == 1 and not codes:
        require_listed(project.locale)
    if source in codes:
        raise GalleryError(f"{source} is the language of the sources; it has no catalogs")
    return choose_languages(project.root, codes or [code for code in known if code != source])
