"""Sphinx as the commands run it, in a process of its own: one line for an error."""

import gc
import json
import signal
import sys
from collections.abc import Sequence
from typing import Any

from sphinx.application import Sphinx
from sphinx.cmd.build import get_parser
from sphinx.util.console import nocolor
from sphinx.util.docutils import docutils_namespace, patch_docutils

from .errors import describe_error

# What sphinx-build does where it ends, to its own streams, or for its own sake
_UNKNOWN = {"warnfile": "-w", "noconfig": "-C", "traceback": "-T", "pdb": "-P", "htmldefine": "-A"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run Sphinx as ``sphinx-build`` does, but tell an error in one line."""
    gc.set_threshold(200_000)  # nodes are many and stay: looking after 700 takes a sixth of a build
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # processes of -j end with it
    nocolor()  # the command that starts it reads what it says
    parser = get_parser()
    options = parser.parse_args(arguments)
    for name, option in _UNKNOWN.items():
        if getattr(options, name):
            parser.error(f"{option} is for sphinx-build alone")
    settings: dict[str, Any] = dict(each.partition("=")[::2] for each in options.define)
    if folders := settings.get("recorded_gallery_locale_dirs"):  # project.locale_option says why
        given = settings.get("locale_dirs")
        settings["recorded_gallery_locale_dirs"] = (
            given.split(",") if given else json.loads(folders)
        )
        settings["locale_dirs"] = []
    confdir = options.confdir or options.sourcedir
    try:
        with patch_docutils(confdir), docutils_namespace():
            app = Sphinx(
                srcdir=options.sourcedir,
                confdir=confdir,
                outdir=options.outputdir,
                doctreedir=options.doctreedir or f"{options.outputdir}/.doctrees",
                buildername=options.builder,
                confoverrides=settings | ({"nitpicky": True} if options.nitpicky else {}),
                status=None if options.quiet or options.really_quiet else sys.stdout,
                warning=None if options.really_quiet else sys.stderr,
                freshenv=options.freshenv,
                warningiserror=options.warningiserror,
                tags=options.tags,
                verbosity=options.verbosity,
                parallel=options.jobs,
                exception_on_warning=options.exception_on_warning,
            )
            app.build(options.force_all, options.filenames)
            # the process ends: looking for waste in a large environment takes a second
            gc.freeze()
            return int(app.statuscode)
    except KeyboardInterrupt:
        line = "interrupted"
    except Exception as error:
        line = describe_error(error)
    print(f"error: {line}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
