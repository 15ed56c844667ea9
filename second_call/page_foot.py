"""What leads on from a recipe's page: Colab at its head; source, reports and citing at its foot.

Notebooks and scripts say below their title where they come from.
"""

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlencode, urlsplit

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import (
    DOWNLOADS_ONLY,
    Page,
    RecipePage,
    RecordedPage,
    Unrecorded,
    current_language,
    describe_versions,
    load_page,
    page_links,
    repository_address,
    typeset,
    write_block,
)

from .html_head import full_address

_ = get_translation("second_call")

# Colab opens notebooks from GitHub only; .github/workflows/pages.yml puts the built ones there.
NOTEBOOKS_BRANCH = "notebooks"


def add_colab_link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add a link to Colab to those of the downloads, if the site has a repository on GitHub."""
    config = app.config
    where = urlsplit(config.recorded_gallery_repository_url.rstrip("/"))
    if where.hostname != "github.com" or load_page(app.env, docname) is None:
        return
    notebook = f"{where.path}/blob/{NOTEBOOKS_BRANCH}/{config.language}/{docname}.ipynb"
    for links in doctree.findall(page_links):
        address = f"https://colab.research.google.com/github{notebook}"
        links += nodes.reference("", _("Colab"), refuri=address, classes=["recipe-action"])


def describe_foot(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give templates ``foot`` of a recipe's page: addresses, and how to cite it."""
    page = load_page(app.env, pagename) if doctree else None
    if page is None:
        return
    foot = context["foot"] = {"cite": _cite(app, pagename, page)}
    repository = app.config.recorded_gallery_repository_url.rstrip("/")
    if not repository:
        return
    known = _fill_in_report(app, pagename, page)
    for form in ("figures", "bug"):
        fields = urlencode({"template": f"{form}.yml", **known})
        foot[form] = f"{repository}/issues/new?{fields}"
    foot["source"] = repository_address(app.env, page.recipe.path, "blob")


def _fill_in_report(app: Sphinx, docname: str, page: RecordedPage | Unrecorded) -> dict[str, str]:
    """Return what is known for the forms bug.yml and figures.yml in .github/ISSUE_TEMPLATE."""
    known = {"page": full_address(app, docname), "language": current_language(app.config).name}
    if isinstance(page, RecordedPage):
        facts = page.recording.facts
        known["commit"] = facts["commit"]
        known["gpu"] = facts["device"].get("gpu")
        known["versions"] = describe_versions(
            page.recording, app.config.recorded_gallery_package_names
        )
    return {field: value for field, value in known.items() if value}


def _cite(app: Sphinx, docname: str, page: RecordedPage | Unrecorded) -> str:
    """Return the page as an entry for BibTeX; its date is that of the recording."""
    title = app.env.titles[docname].astext()
    fields = {"author": f"{{{app.config.author}}}", "title": f"{{{title}}}"}
    fields["howpublished"] = app.config.project
    if isinstance(page, RecordedPage):
        fields["year"] = str(page.recording.recorded.year)
    if address := full_address(app, docname):
        fields["url"] = address
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{PurePosixPath(docname).name},", *lines, "}"])


def add_release(env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Say at the end of a recipe's text that a package has a newer release, and what it is.

    ``second_call_releases`` in ``conf.py`` names it, and the label at which a page tells the rest.
    """
    if not isinstance(page, RecordedPage):
        return
    for package, (current, label) in env.config.second_call_releases.items():
        version = page.recording.facts["versions"].get(package, current)
        recorded = ".".join(version.split(".")[:2])
        if recorded != current:
            name = env.config.recorded_gallery_package_names.get(package, package)
            said = _("The current release is %s.") % f"{name} {current}"
            words = nodes.Text(typeset(f"{said} ", current_language(env.config).locale))
            told = _("What has changed since %s") % recorded
            target = {"refdomain": "std", "reftype": "ref", "reftarget": label, "refwarn": True}
            target |= {"refdoc": env.docname, "refexplicit": True}
            link = pending_xref("", nodes.inline("", told), **target)
            line = nodes.paragraph("", "", words, link, classes=["release"], translatable=False)
            *_others, last = document.findall(nodes.section)
            last += line


class origin(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A list for downloads; the page says the same at its head and foot."""


def add_origin(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the list under the title of a recipe's page."""
    page = load_page(app.env, docname)
    title = next(iter(doctree.findall(nodes.title)), None)
    if page is None or title is None:
        return
    address = full_address(app, docname)
    lines = [nodes.reference("", address, refuri=address)] if address else []
    if isinstance(page, RecordedPage):
        versions = describe_versions(page.recording, app.config.recorded_gallery_package_names)
        lines.append(nodes.Text(versions))
    lines.append(nodes.Text(_("Code: BSD-3-Clause. Text and figures: CC BY 4.0.")))
    items = (nodes.list_item("", nodes.paragraph("", "", line)) for line in lines)
    head = title.parent.first_child_matching_class(nodes.container)
    below = title.parent.index(title) if head is None else head
    title.parent.insert(
        below + 1, origin("", nodes.bullet_list("", *items), **{DOWNLOADS_ONLY: True})
    )


@write_block.register
def _write(node: origin, page: Page) -> str:
    return write_block(node[0], page)
