"""The head of a recipe's page: the box with the facts of its recording, and its style."""

import re

from tests.helpers.gallery import Gallery, write_recording


def test_packages_are_called_as_conf_py_says(site: Gallery) -> None:
    path = site.recordings / "adding.ipynb"
    text = path.read_text().replace('"versions": {', '"versions": {"some-lib": "1.2",')
    write_recording(path, text)
    assert re.search(r"some-lib.*?1\.2", site.build().page("recipes/adding"), re.DOTALL)
    site.configure(recorded_gallery_package_names={"some-lib": "SomeLib"})
    build = site.build()
    assert "recipes/adding" in build.read
    page = build.page("recipes/adding")
    assert ", SomeLib 1.2, " in page[page.index("<summary") : page.index("</summary")]
    assert "some-lib" not in page
    assert "Python" in page[page.index("<details") : page.index("</details>")]
