"""Links of a recipe's page: Colab at its head; source, reports and how to cite it at its foot.

Notebooks and scripts say what they need, the address of the page and licenses at their head.
"""

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlencode, urlsplit

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from sphinx_recorded_gallery.api import (
    Gallery,
    Language,
    RecipePage,
    Typography,
    add_download_fact,
    add_page_link,
    find_outdated,
    note_link,
    once,
    repository_address,
)

from .html_head import full_address
from .labels import _
from .navigation import list_recipes

# Colab opens notebooks from GitHub only; .github/workflows/pages.yml puts the built ones there.
NOTEBOOKS_BRANCH = "notebooks"


def add_colab_link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add a link to Colab beside the downloads, if the site has a repository on GitHub."""
    config = app.config
    repository = urlsplit(config.recorded_gallery_repository_url.rstrip("/"))
    if repository.hostname != "github.com" or Gallery(app.env).load_page(docname) is None:
        return
    notebook = f"{repository.path}/blob/{NOTEBOOKS_BRANCH}/{config.language}/{docname}.ipynb"
    address = f"https://colab.research.google.com/github{notebook}"
    add_page_link(doctree, _("Colab"), address)


def add_changes_link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add links to what the current releases changed, beside the downloads of a recipe."""
    recipe_page = Gallery(app.env).load_page(docname)
    if recipe_page is None or recipe_page.recording is None:
        return
    for page, target, title in _list_changes(app.env):
        address = f"{app.builder.get_relative_uri(docname, page)}#{target}"
        add_page_link(doctree, title, address)


def note_changes_link(_app: Sphinx, env: BuildEnvironment) -> None:
    """Note that recipes show the titles of the texts about what releases changed."""
    for recipe in once(env, list_recipes):
        if recipe in env.all_docs:
            for page, _target, _title in _list_changes(env):
                note_link(env, recipe, page)


def _list_changes(env: BuildEnvironment) -> list[tuple[str, str, str]]:
    """Return page, target and title of the texts about what releases changed, where there are any.

    ``second_call_releases`` in ``conf.py`` names their labels; a label that there is not is told
    where the foot of a page links to it.
    """
    labels = env.domains.standard_domain.labels
    named = [label for _release, label in env.config.second_call_releases.values()]
    return [labels[label] for label in named if label in labels]


def describe_foot(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], doctree: Any
) -> None:
    """Put ``foot`` into the context of a recipe's page: how to cite it, and addresses.

    Without a repository, ``foot`` has no addresses.
    """
    if not doctree:
        return
    page = Gallery(app.env).load_page(pagename)
    if page is None:
        return
    foot = {"cite": _cite(app, pagename, page)}
    context["foot"] = foot
    repository = app.config.recorded_gallery_repository_url.rstrip("/")
    if not repository:
        return
    fields = _fill_in_report(app, pagename, page)
    for form in ("figures", "bug"):
        query = urlencode({"template": f"{form}.yml", **fields})
        foot[form] = f"{repository}/issues/new?{query}"
    foot["source"] = repository_address(app.env, page.recipe.path, "blob")


def _fill_in_report(app: Sphinx, docname: str, page: RecipePage) -> dict[str, str]:
    """Return fields of the forms bug.yml and figures.yml in .github/ISSUE_TEMPLATE.

    Fields without a value are left out.
    """
    config = app.config
    fields = {"page": full_address(app, docname), "language": Language.current(config).name}
    if page.recording:
        facts = page.recording.facts
        fields["commit"] = facts["commit"]
        fields["gpu"] = facts["device"].get("gpu")
        names = config.recorded_gallery_package_names
        fields["versions"] = page.recording.describe_versions(names)
    return {name: value for name, value in fields.items() if value}


def _cite(app: Sphinx, docname: str, page: RecipePage) -> str:
    """Return a BibTeX entry for the page, with the year of the recording."""
    title = app.env.titles[docname].astext()
    fields = {
        "author": _put_in_braces(app.config.author),  # which keep BibTeX from changing it
        "title": _put_in_braces(title),
        "howpublished": app.config.project,
    }
    if page.recording:
        fields["year"] = str(page.recording.recorded.year)
    address = full_address(app, docname)
    if address:
        fields["url"] = address
    key = PurePosixPath(docname).name
    lines = [f"  {name} = {_put_in_braces(value)}," for name, value in fields.items()]
    return "\n".join(["@misc{" + f"{key},", *lines, "}"])


def _put_in_braces(text: str) -> str:
    return "{" + text + "}"


def add_release_notices(env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Add a line to the end of a recipe for each package that has a release since the recording.

    ``second_call_releases`` in ``conf.py`` has the current release of each package, and the label
    of the text about what has changed, to which the line links.
    """
    if page.recording is None:
        return
    recorded_versions = page.recording.facts["versions"]
    for package, (current, label) in env.config.second_call_releases.items():
        recorded = find_outdated(recorded_versions, package, current)
        if not recorded:
            continue  # it is current, or the recipe does not use the package
        name = env.config.recorded_gallery_package_names.get(package, package)
        last_section = list(document.findall(nodes.section))[-1]
        last_section += _describe_release(env, f"{name} {current}", recorded, label)


def _describe_release(
    env: BuildEnvironment, current: str, recorded: str, label: str
) -> nodes.paragraph:
    """Return a line that names the current release and links to what changed since the recorded."""
    sentence = _("The current release is %s.") % current
    text = nodes.Text(Typography.of(env.config).typeset(f"{sentence} "))
    link_text = _("What has changed since %s") % recorded
    link = pending_xref(
        "",
        nodes.inline("", link_text),
        refdomain="std",
        reftype="ref",
        reftarget=label,
        refwarn=True,
        refdoc=env.docname,
        refexplicit=True,
    )
    return nodes.paragraph("", "", text, link, classes=["release"], translatable=False)


def add_origin(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add what a recipe needs, its address and its licenses to the facts in its downloads."""
    # Recipes run on both (CONTRIBUTING.md).
    needs = _("Needs: a CUDA GPU, or a CPU and a C++ compiler (numbers differ)")
    add_download_fact(doctree, nodes.Text(needs), first=True)
    address = full_address(app, docname)
    if address:
        add_download_fact(doctree, nodes.reference("", address, refuri=address))
    licenses = _("Code: BSD-3-Clause. Text and figures: CC BY 4.0.")
    add_download_fact(doctree, nodes.Text(licenses))
