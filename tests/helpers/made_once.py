"""What each build in a process would make anew.

This is all that is replaced for the whole session. Without it, the 61 tests of
``test_figures_in_prose.py``, most of which build a small site, take 20.0 s of CPU time in place of
13.5 s. An environment of Jinja lives as long as its build, so that its own cache is of no use here.
"""

from types import CodeType
from typing import Any

from jinja2 import Environment

# What a template is compiled by, besides its text: https://jinja.palletsprojects.com/en/stable/api/
MARKS = ("block", "variable", "comment")
SETTINGS = (
    *(f"{mark}_{end}_string" for mark in MARKS for end in ("start", "end")),
    *("line_statement_prefix", "line_comment_prefix", "trim_blocks", "lstrip_blocks"),
    *("newline_sequence", "keep_trailing_newline", "optimized", "undefined", "finalize"),
    *("autoescape", "is_async", "newstyle_gettext"),
)


def compile_templates_once() -> None:
    """Keep for this process what Jinja makes of templates, one for each text and environment."""
    compile_template = Environment.compile
    kept: dict[tuple[Any, ...], CodeType] = {}

    def compile_once(
        environment: Environment,
        source: Any,
        name: str | None = None,
        filename: str | None = None,
        **options: bool,
    ) -> Any:
        if options or not isinstance(source, str):
            return compile_template(environment, source, name, filename, **options)
        settings = (getattr(environment, setting, None) for setting in SETTINGS)
        names = (frozenset(environment.filters), frozenset(environment.tests))
        extensions = tuple(environment.extensions)
        key = (source, name, filename, type(environment), *settings, extensions, *names)
        if key not in kept:
            kept[key] = compile_template(environment, source, name, filename)
        return kept[key]

    Environment.compile = compile_once  # type: ignore[assignment,method-assign]
