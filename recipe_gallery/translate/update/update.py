"""Bring the catalogs of a project up to date with its sources: `make update-po`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polib

from ...languages import Language
from ...project import Project
from ..catalogs import domain_of, find_catalogs, read_catalog, write_catalog
from ..templates.extract import make_templates
from ..templates.kept import KeptTemplates, write_templates
from ..templates.labels import for_language
from .plan import Plan, plan_update


def update_catalogs(
    project: Project, languages: Sequence[Language], templates: Path
) -> tuple[list[Path], list[str]]:
    """Update or create the catalogs of ``languages``, and the templates beside them.

    Returns the files that were written or removed, and lines on what became of messages.

    ``templates`` is the folder for what the gettext builder makes. The engine's labels are updated
    beside the engine where the project is its repository; elsewhere a catalog of the project holds
    those of them that the engine has no translation of. The catalog of a page that is gone keeps
    its translations until a person removes it, but for those that another one has in use.
    """
    domains = make_templates(project, templates)
    changed, told = write_templates(project, domains), []
    for language in languages:
        code = language.code
        paths, plan = plan_language(project, domains, code)
        for domain, catalog in plan.catalogs.items():
            if write_catalog(paths[domain], catalog):
                changed.append(paths[domain])
        for domain in plan.emptied:
            paths[domain].unlink()
            changed.append(paths[domain])
        told += [f"{code} {line}" for line in plan.describe()]
    return changed, told


def plan_language(
    project: Project, domains: Mapping[str, polib.POFile], code: str
) -> tuple[dict[str, Path], Plan]:
    """Return what an update from templates makes of a language's catalogs, and where they lie."""
    kept = KeptTemplates(project.root, project.locale, project.config)
    names = {domain_of(path) for path in find_catalogs(project.locale, code)} | domains.keys()
    paths = {domain: kept.catalog_of(domain, code) for domain in names}
    olds = {domain: read_catalog(path) for domain, path in paths.items() if path.exists()}
    wanted = {
        domain: for_language(template, kept.shipped(domain, code), olds.get(domain, ()))
        for domain, template in domains.items()
    }
    return paths, plan_update(olds, wanted, language=code)
