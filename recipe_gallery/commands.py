"""What each command of the command line does; ``__main__.py`` calls them."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .errors import GalleryError, suggest
from .languages import Language, add_language, choose_languages, load_languages, require_listed
from .project import Project

# Takes the project and the arguments; False if there is something to mend.
Run = Callable[[Project, argparse.Namespace], bool | None]
Argument = tuple[tuple[str, ...], dict[str, Any]]

PARSER = argparse.ArgumentParser(prog="recipe-gallery", description="Recorded recipes.")
_COMMANDS = PARSER.add_subparsers(required=True, metavar="command")


def argument(*names: str, **options: Any) -> Argument:
    """Describe one argument as ``argparse`` takes it."""
    return names, options


def command(name: str, *arguments: Argument) -> Callable[[Run], Run]:
    """Make a function a command; the first line of its docstring is the help."""

    def register(run: Run) -> Run:
        text = (run.__doc__ or "").partition("\n")[0].rstrip(".")
        parser = _COMMANDS.add_parser(name, help=text, description=text)
        for names, options in (ROOT, *arguments):
            parser.add_argument(*names, **options)
        parser.set_defaults(run=run)
        return run

    return register


def count(text: str) -> int:
    """Return a number from 1 to 1,000; ``argparse`` tells what is none."""
    if text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1,000")


ROOT = argument("--root", type=Path, default=Path(), help="folder of conf.py")
LANGUAGES = argument("languages", nargs="*", help="codes such as ko; all if none")
TEMPLATES = argument(
    "--templates", type=Path, default=Path("_build/gettext"), help="folder for the templates"
)
RECIPES = argument("recipes", nargs="*", help="names of recipes; all if none")
RECORDINGS = argument(
    "--recordings-folder", type=Path, help="folder of another machine's recordings"
)


@command("check", RECORDINGS)
def check(project: Project, options: argparse.Namespace) -> bool:
    """Tell which recordings are missing, stale or current."""
    from .record.recording_status import check_recordings, format_reports

    reports = check_recordings(project, options.recordings_folder)
    print(format_reports(reports))
    return all(report.is_fine for report in reports)


@command("figures", RECIPES, RECORDINGS)
def figures(project: Project, options: argparse.Namespace) -> None:
    """Compute the intervals of measured figures from all replicates."""
    try:
        from .record.replicates.update import update_all
    except ModuleNotFoundError as error:
        raise _missing_package("computing figures", error) from None
    print("\n".join(update_all(project, options.recipes, options.recordings_folder)))


@command(
    "record",
    argument("recipes", nargs="*", help="names of recipes; all that changed if none"),
    argument("--device", choices=("gpu", "cpu"), default="gpu"),
    argument("--force", action="store_true", help="also those that are current"),
    argument("--replace-gpu", action="store_true", help="let a CPU recording replace a GPU one"),
    argument("--replicates", type=count, default=0, metavar="N", help="fresh processes of each"),
    RECORDINGS,
)
def record(project: Project, options: argparse.Namespace) -> bool:
    """Run recipes and keep what they printed and drew."""
    try:
        from .record.session import Options
        from .record.session import record as record_recipes
    except ModuleNotFoundError as error:
        raise _missing_package("recording", error) from None
    wanted = Options(
        folder=options.recordings_folder,
        device=options.device,
        force=options.force,
        replace_gpu=options.replace_gpu,
        replicates=options.replicates,
    )
    return record_recipes(project, options.recipes, wanted)


@command(
    "drift",
    RECIPES,
    argument("--base", default="HEAD", help="the commit to compare with"),
    argument("--format", choices=("text", "markdown"), default="text"),
    argument("--strict", action="store_true", help="fail if one is, or a claim is refuted"),
    RECORDINGS,
)
def drift(project: Project, options: argparse.Namespace) -> bool:
    """Tell which figures recorded anew lie outside the intervals of a commit."""
    from .record.drift.compare import find_drift
    from .record.drift.report import FORMATS

    found = find_drift(project, options.recipes, options.base, options.recordings_folder)
    print(FORMATS[options.format](found, options.base))
    return not (options.strict and any(each.is_contradicted for each in found))


@command(
    "html",
    LANGUAGES,
    argument("--build", type=Path, default=Path("_build"), help="folder for what is made"),
    argument("--sphinx-options", default="", help="handed to sphinx-build"),
)
def html(project: Project, options: argparse.Namespace) -> bool:
    """Render the site in all languages at the same time."""
    from .build import build_site

    languages = choose_languages(project.root, options.languages)
    build = Path.cwd() / options.build
    return build_site(project.root, build, languages, options.sphinx_options)


@command("update-po", LANGUAGES, TEMPLATES)
def update_po(project: Project, options: argparse.Namespace) -> None:
    """Bring the catalogs up to date with the sources."""
    from .translate.extract import update_catalogs

    languages = _translated_languages(project, options.languages)
    changed = update_catalogs(project, languages, options.templates)
    for path in changed:
        print(f"updated {path}")
    print(f"{len(changed)} catalogs changed" if changed else "all catalogs are up to date")


@command(
    "check-po",
    argument("targets", nargs="*", help="languages, files or folders; all if none"),
    argument("--format", choices=("text", "github", "json"), default="text"),
    argument("--list", action="store_true", help="only list the checks"),
)
def check_po(project: Project, options: argparse.Namespace) -> bool:
    """Tell what is wrong with catalogs."""
    from .translate.checks.problems import format_checks, format_problems
    from .translate.checks.run import check_tree

    if options.list:
        print(format_checks())
        return True
    problems = check_tree(project, options.targets)
    print(format_problems(problems, options.format))
    return not problems


@command("status", LANGUAGES)
def status(project: Project, options: argparse.Namespace) -> None:
    """Tell how far each catalog is translated."""
    from .translate.catalogs import label_domains, locale_folders
    from .translate.status_and_impact import format_status, language_status

    folders, labels = locale_folders(project.root, project.locale), label_domains(project.config)
    for language in _translated_languages(project, options.languages):
        print(format_status(language, language_status(folders, language.code, labels)))


@command("impact", argument("base", help="a commit or branch to compare with"), TEMPLATES)
def impact(project: Project, options: argparse.Namespace) -> None:
    """Tell what changed source text means to translators."""
    from .translate.status_and_impact import find_impact, format_impact

    found = find_impact(project, options.base, options.templates)
    print(format_impact(project, found, _translated_languages(project)))


@command("glossary", argument("folder", type=Path, help="where the files go"))
def glossary(project: Project, options: argparse.Namespace) -> None:
    """Write the glossary for translation tools."""
    from .translate.glossary import load_glossary, write_glossaries

    terms = load_glossary(project.locale)
    for path in write_glossaries(terms, _translated_languages(project), options.folder):
        print(path)


@command(
    "live",
    argument("language", help="its code, such as ko"),
    argument("--build", type=Path, default=Path("_build/live"), help="folder for what is made"),
    argument("--port", type=int, default=8000),
)
def live(project: Project, options: argparse.Namespace) -> None:
    """Serve one language and follow every save."""
    from .live.server import run

    if not options.language:
        raise GalleryError("which language?", remedy=f"for example: {suggest('live', 'ko')}")
    language = choose_languages(project.root, [options.language])[0]
    run(project, Path.cwd() / options.build, language, options.port)


@command("pseudo-po", argument("locale", type=Path, help="folder for them"), TEMPLATES)
def pseudo_po(project: Project, options: argparse.Namespace) -> None:
    """Write catalogs of accented English, in which untranslatable text stands out."""
    from .translate.pseudo import make_pseudo_catalogs

    make_pseudo_catalogs(project, options.templates, options.locale)


@command("new-language", argument("language", help="its code, such as ja or pt_BR"), TEMPLATES)
def new_language(project: Project, options: argparse.Namespace) -> None:
    """Add a language, with catalogs to fill in."""
    from .translate.extract import update_catalogs

    code = options.language
    line = add_language(project.root, code)
    print(f"languages.toml: {line}" if line else f"languages.toml has {code} already")
    languages = choose_languages(project.root, [code])
    changed = update_catalogs(project, languages, options.templates)
    folder = project.locale / code
    print(f"{len(changed)} catalogs written to {folder}; translate them, and look at the pages:")
    print(suggest("html", code))
    print("Once readers should find the language, set published = true in languages.toml.")


def _missing_package(what: str, error: ModuleNotFoundError) -> GalleryError:
    remedy = "run: pip install 'recipe-gallery[record]'"
    return GalleryError(f"{what} needs the package {error.name}", remedy=remedy)


def _translated_languages(project: Project, codes: Sequence[str] = ()) -> list[Language]:
    """Return the languages called ``codes``, or all but that of the sources."""
    known = load_languages(project.root)
    source = next(iter(known))
    if len(known) == 1 and not codes:
        require_listed(project.root, project.locale)
    if source in codes:
        raise GalleryError(f"{source} is the language of the sources; it has no catalogs")
    return choose_languages(project.root, codes or [code for code in known if code != source])
