"""The engine's labels are in the language of a build, also without catalogs of the project."""

from tests.helpers.gallery import Gallery


def test_the_core_alone_shows_its_labels_in_the_language_of_a_build(gallery: Gallery) -> None:
    gallery.add()
    gallery.configure(extensions=["sphinx_recorded_gallery"])
    build = gallery.build(language="ko")
    assert build.warnings == ""
    page = build.page("recipes/adding")
    assert "<summary>기록: " in page
    assert ">노트북</a>" in page
    assert "A paragraph." in page
