"""Folded cells in themes of others."""

import pytest
from playwright.sync_api import Browser, expect
from stranger import Stranger, need


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["alabaster", "furo"])
def test_cells_are_folded_in_other_themes(recorded: Stranger, browser: Browser, theme: str) -> None:
    need(theme)
    path = recorded.root / "examples/plot_line.py"
    mark = '# sphinx_gallery_fold = "How it begins"\n\n# Why it is so short.'
    path.write_text(path.read_text().replace("# Why it is so short.", mark))
    out = recorded.sphinx("html", "-D", f"html_theme={theme}")
    address = (out / "auto_examples/plot_line.html").as_uri()
    page = browser.new_page()
    page.goto(address)
    cell, button = page.locator("details.folded-cell"), page.locator("button.unfold-all")
    expect(cell.locator("summary")).to_have_text("How it begins")
    expect(cell.locator("pre")).to_be_hidden()
    expect(page.locator(".recorded-output").first).to_be_visible()
    button.click()
    expect(cell.locator("pre")).to_be_visible()
    expect(button).to_have_text("Fold all")
    button.click()
    expect(cell.locator("pre")).to_be_hidden()
    page.emulate_media(media="print")
    expect(cell.locator("pre")).to_be_visible()
    expect(button).to_be_hidden()
    page.goto(f"{address}#how-it-begins")
    page.emulate_media(media="screen")
    expect(page.locator("details.folded-cell[open]")).to_have_count(1)
    page.close()
