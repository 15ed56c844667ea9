"""In a browser, HTML of a recording does nothing but show, on a page without a policy, too."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.helpers.gallery import Gallery, write_recording

HOSTILE = """
<p class="seen">shown</p>
<script>document.title = "acted"</script>
<img src="x" onerror="document.title = 'acted'">
<img src="https://acting.example/pixel.png">
<svg onload="document.title = 'acted'"><script>document.title = "acted"</script></svg>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=acted()&gt;">
<iframe src="https://acting.example" srcdoc="<script>parent.acted()</script>"></iframe>
<object data="https://acting.example"></object><embed src="https://acting.example">
<video src="https://acting.example" autoplay></video>
<meta http-equiv="refresh" content="0;url=https://acting.example">
<base href="https://acting.example">
<link rel="stylesheet" href="https://acting.example/x.css">
<link rel="canonical" href="https://acting.example">
<form action="https://acting.example"><button formaction="https://acting.example">go</button></form>
<style>body { display: none } @import "https://acting.example/y.css";</style>
<div style="position: fixed; inset: 0; background: url(https://acting.example/z.png)">over all</div>
<a class="link" href="javascript:document.title = 'acted'">follow</a>
<div id="searchbox" onclick="document.title = 'acted'">press</div>
</div></div></section></main></body></html>
"""


pytestmark = pytest.mark.slow  # a browser


def test_hostile_html_shows_text_and_acts_on_nothing(site: Gallery, browser: Browser) -> None:
    path = site.recordings / "adding.ipynb"
    notebook = json.loads(path.read_text())
    asked: list[str] = []
    seen = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    for html in ('<p class="seen">shown</p>', HOSTILE):
        notebook["cells"][1]["outputs"][0]["data"] = {"text/html": html}
        write_recording(path, json.dumps(notebook))
        build = site.build()
        assert build.warnings == ""
        notebook_of_reader = (build.out / "recipes/adding.ipynb").read_text()
        assert "acting" not in notebook_of_reader
        page.goto(Path(build.out, "recipes/adding.html").as_uri())
        for link in page.locator(".recorded-html a").all():
            link.click()
        page.wait_for_timeout(300)
        # title, head, and what stands outside of the HTML
        outline = (
            "[...document.querySelectorAll('*')].filter(each => !each.closest('.recorded-html'))"
        )
        names = page.evaluate(
            f"{outline}.map(each => each.tagName + each.parentElement?.className)"
        )
        seen.append((page.title(), names))
    assert seen[0] == seen[1]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert page.locator("p.seen").inner_text() == "shown"
    assert page.locator("script, style, iframe, form", has_text="act").count() == 0
    page.close()


def test_html_stays_in_its_box(site: Gallery, browser: Browser) -> None:
    build = site.build()
    page = browser.new_page()
    page.goto(Path(build.out, "recipes/adding.html").as_uri())
    # as a class of the theme might do
    page.add_style_tag(content=".recorded-html table { position: fixed; top: 0; left: 0 }")
    box, table = (
        page.locator(each).bounding_box() for each in (".recorded-html", ".recorded-html table")
    )
    assert table["y"] >= box["y"]
    page.close()
