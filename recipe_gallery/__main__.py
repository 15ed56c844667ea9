"""Command line: ``python -m recipe_gallery --help``; the Makefile calls it."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from .languages import Language, add_language, choose_languages, load_languages
from .project import GalleryError
from .recipes.gallery import find_recipes
from .recipes.state import Status, check_recordings, format_reports


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 0 fine, 1 something to mend, 130 interrupted."""
    options = _parse(arguments)
    try:
        status = int(options.run(options))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # Who reads, such as head, has enough; Python would complain once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except GalleryError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what was finished is kept", file=sys.stderr)
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m recipe_gallery", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    folders = argparse.ArgumentParser(add_help=False)
    folders.add_argument("--recipes-folder", type=Path, default=Path("recipes_source"))
    folders.add_argument("--recordings-folder", type=Path, default=Path("recordings"))

    check = commands.add_parser(
        "check", parents=[folders], help="tell which recordings are missing, stale or current"
    )
    check.set_defaults(run=_check)

    record = commands.add_parser(
        "record", parents=[folders], help="run recipes and keep what they printed and drew"
    )
    record.add_argument("recipes", nargs="*", help="names of recipes; all that changed if none")
    record.add_argument("--device", choices=("gpu", "cpu"), default="gpu")
    record.add_argument("--force", action="store_true", help="also those that are current")
    record.add_argument(
        "--replace-gpu", action="store_true", help="let a CPU recording replace a GPU one"
    )
    record.set_defaults(run=_record)

    root = argparse.ArgumentParser(add_help=False)
    root.add_argument("--root", type=Path, default=Path(), help="folder of the project")
    templates = argparse.ArgumentParser(add_help=False, parents=[root])
    templates.add_argument("--templates", type=Path, default=Path("_build/gettext"))

    html = commands.add_parser(
        "html", parents=[root], help="render the site in all languages at the same time"
    )
    html.add_argument("languages", nargs="*", help="codes; all published languages if none")
    html.add_argument("--build", type=Path, default=Path("_build"), help="folder for what is made")
    html.add_argument("--sphinx-options", default="", help="handed to sphinx-build")
    html.set_defaults(run=_html)

    update = commands.add_parser(
        "update-po", parents=[templates], help="bring the catalogs up to date"
    )
    update.add_argument("languages", nargs="*", help="codes; all languages if none")
    update.set_defaults(run=_update)

    check_po = commands.add_parser(
        "check-po", parents=[root], help="tell what is wrong with catalogs"
    )
    check_po.add_argument("targets", nargs="*", help="languages, files or folders; all if none")
    check_po.add_argument("--format", choices=("text", "github", "json"), default="text")
    check_po.set_defaults(run=_check_po)

    status = commands.add_parser(
        "status", parents=[root], help="tell how far each catalog is translated"
    )
    status.add_argument("languages", nargs="*", help="codes; all languages if none")
    status.set_defaults(run=_status)

    impact = commands.add_parser(
        "impact", parents=[templates], help="tell what changed English means to translators"
    )
    impact.add_argument("base", help="a commit or branch to compare with")
    impact.set_defaults(run=_impact)

    glossary = commands.add_parser(
        "glossary", parents=[root], help="write the glossary for translation tools"
    )
    glossary.add_argument("folder", type=Path)
    glossary.set_defaults(run=_glossary)

    live = commands.add_parser(
        "live", parents=[root], help="serve one language and follow every save"
    )
    live.add_argument("language", help="its code")
    live.add_argument("--build", type=Path, default=Path("_build/live"))
    live.add_argument("--port", type=int, default=8000)
    live.set_defaults(run=_live)

    pseudo = commands.add_parser(
        "pseudo-po", parents=[templates], help="write catalogs of accented English"
    )
    pseudo.add_argument("locale", type=Path, help="folder for them")
    pseudo.set_defaults(run=_pseudo)

    new = commands.add_parser(
        "new-language", parents=[templates], help="add a language, with catalogs to fill in"
    )
    new.add_argument("language", help="its code, such as ja or pt_BR")
    new.set_defaults(run=_new_language)
    return parser.parse_args(arguments)


def _check(options: argparse.Namespace) -> int:
    reports = check_recordings(options.recipes_folder, options.recordings_folder)
    print(format_reports(reports))
    return int(any(report.status is not Status.CURRENT for report in reports))


def _record(options: argparse.Namespace) -> int:
    paths = _choose(options.recipes_folder, options.recipes)
    try:
        from rich.console import Console

        from .record.session import Job, record
    except ModuleNotFoundError as error:
        raise GalleryError(
            f"recording needs the package {error.name}; run: pip install -r requirements-record.txt"
        ) from None
    job = Job(
        recipes_folder=options.recipes_folder,
        recordings_folder=options.recordings_folder,
        device=options.device,
        force=options.force,
        replace_gpu=options.replace_gpu,
    )
    return 0 if record(paths, job, Console(stderr=True, soft_wrap=True)) else 1


def _html(options: argparse.Namespace) -> int:
    from .build import build_site

    languages = choose_languages(options.root, options.languages)
    return 0 if build_site(options.root, options.build, languages, options.sphinx_options) else 1


def _update(options: argparse.Namespace) -> int:
    from .translate.update import update_catalogs

    languages = _translated_languages(options.root, options.languages)
    changed = update_catalogs(options.root, languages, options.templates)
    for path in changed:
        print(f"updated {path}")
    print(f"{len(changed)} catalogs changed" if changed else "all catalogs are up to date")
    return 0


def _check_po(options: argparse.Namespace) -> int:
    from .translate.checks.run import check_tree, format_problems

    problems = check_tree(options.root, options.targets)
    print(format_problems(problems, options.format))
    return int(bool(problems))


def _translated_languages(root: Path, codes: Sequence[str] = ()) -> list[Language]:
    """Return the languages called ``codes``, or all but that of the sources."""
    known = load_languages(root)
    source = next(iter(known))
    if source in codes:
        raise GalleryError(f"{source} is the language of the sources; it has no catalogs")
    return choose_languages(root, codes or [code for code in known if code != source])


def _status(options: argparse.Namespace) -> int:
    from .translate.status import format_status, language_status

    for language in _translated_languages(options.root, options.languages):
        print(format_status(language, language_status(options.root / "locale", language)))
    return 0


def _impact(options: argparse.Namespace) -> int:
    from .translate.impact import find_impact, format_impact

    impact = find_impact(options.root, options.base, options.templates)
    print(format_impact(options.root, impact, _translated_languages(options.root)))
    return 0


def _glossary(options: argparse.Namespace) -> int:
    from .translate.glossary import load_glossary
    from .translate.glossary_files import write_glossaries

    source = next(iter(load_languages(options.root).values()))
    languages = _translated_languages(options.root)
    glossary = load_glossary(options.root / "locale")
    for path in write_glossaries(glossary, source, languages, options.folder):
        print(path)
    return 0


def _live(options: argparse.Namespace) -> int:
    from .live.server import run

    if not options.language:
        raise GalleryError("which language? for example: make live LANGUAGE=ko")
    run(
        options.root,
        options.build,
        choose_languages(options.root, [options.language])[0],
        options.port,
    )
    return 0


def _pseudo(options: argparse.Namespace) -> int:
    from .translate.pseudo import make_pseudo_catalogs

    make_pseudo_catalogs(options.root, options.templates, options.locale)
    return 0


def _new_language(options: argparse.Namespace) -> int:
    from .translate.update import update_catalogs

    line = add_language(options.root, options.language)
    print(f"languages.toml: {line}" if line else f"languages.toml has {options.language} already")
    languages = choose_languages(options.root, [options.language])
    changed = update_catalogs(options.root, languages, options.templates)
    folder = options.root / "locale" / options.language
    print(
        f"{len(changed)} catalogs written to {folder}; translate them, and look at the pages with"
    )
    print(f"make html LANGUAGES={options.language}")
    print("Once readers should find the language, set published = true in languages.toml")
    print("and name its reviewers in .github/CODEOWNERS.")
    return 0


def _choose(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the recipes called ``names``, or all; raise ``GalleryError`` for an unknown name."""
    paths = {path.stem: path for path in find_recipes(folder)}
    if not paths:
        raise GalleryError(f"{folder}: no recipes here; is it the right folder?")
    unknown = [name for name in names if name.removesuffix(".py") not in paths]
    if unknown:
        raise GalleryError(
            f"no recipe named {', '.join(unknown)} in {folder}; there are: {', '.join(paths)}"
        )
    return [paths[name.removesuffix(".py")] for name in names] if names else list(paths.values())


if __name__ == "__main__":
    sys.exit(main())
