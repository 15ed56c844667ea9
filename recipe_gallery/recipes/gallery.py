"""Which recipes a project has, and which page each becomes."""

from pathlib import Path

from sphinx.config import Config

from ..project import gallery_folders


def find_recipes(folder: Path) -> list[Path]:
    """Return the recipes in ``folder``, in order; files whose names start with ``_`` are none."""
    return sorted(path for path in folder.glob("*.py") if not path.name.startswith("_"))


def find_source(config: Config, srcdir: Path, docname: str) -> Path | None:
    """Return the recipe that Sphinx-Gallery makes the page ``docname`` from, or None."""
    for pages, examples in gallery_folders(config):
        if docname.startswith(f"{pages}/"):
            source = Path(srcdir, examples, docname.removeprefix(f"{pages}/") + ".py")
            if source.is_file():
                return source
    return None


def gallery_pages(config: Config, srcdir: Path) -> list[tuple[str, Path]]:
    """Return page name and source of every recipe, in order."""
    return [
        (f"{pages}/{source.stem}", source)
        for pages, examples in gallery_folders(config)
        for source in find_recipes(Path(srcdir, examples))
    ]
