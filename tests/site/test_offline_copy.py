"""The zip of each language's pages."""

from pathlib import Path
from zipfile import ZipFile

from tests.helpers.site_pages import LANGUAGES


def test_each_language_has_all_of_its_files_in_a_zip(languages_site: Path) -> None:
    for language in LANGUAGES:
        folder = languages_site / language.code
        name = f"second-call-{language.code}"
        with ZipFile(folder / f"{name}.zip") as copy:
            packed = set(copy.namelist())
        files = [path for path in folder.rglob("*") if path.is_file()]
        shown = {path for path in files if not path.name.startswith(".") and path.suffix != ".zip"}
        assert packed == {f"{name}/{path.relative_to(folder).as_posix()}" for path in shown}
        assert f"{name}/index.html" in packed


def test_each_page_leads_to_the_zip_of_its_language(languages_site: Path) -> None:
    for language in LANGUAGES:
        page = languages_site / language.code / "recipes" / "memory.html"
        assert f'href="../second-call-{language.code}.zip" download' in page.read_text()
