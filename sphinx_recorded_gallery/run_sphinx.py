"""Run Sphinx for the commands, in a process of its own, and report an error in one line."""

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

# Options of sphinx-build that this wrapper does not support
_UNSUPPORTED = {
    "warnfile": "-w",
    "noconfig": "-C",
    "traceback": "-T",
    "pdb": "-P",
    "htmldefine": "-A",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run Sphinx as ``sphinx-build`` does, but report an error in one line."""
    # Nodes are many and stay: collecting after every 700 costs a sixth of a build.
    gc.set_threshold(200_000)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that processes of -j end, too
    nocolor()  # the command that runs this reads the output
    parser = get_parser()
    options = parser.parse_args(arguments)
    for name, option in _UNSUPPORTED.items():
        if getattr(options, name):
            parser.error(f"{option} is not supported here; use sphinx-build for it")
    settings: dict[str, Any] = {}
    for definition in options.define:
        name, _equals, value = definition.partition("=")
        settings[name] = value
    _restore_locale_dirs(settings)
    if options.nitpicky:
        settings["nitpicky"] = True
    is_quiet = options.quiet or options.really_quiet
    confdir = options.confdir or options.sourcedir
    try:
        with patch_docutils(confdir), docutils_namespace():
            app = Sphinx(
                srcdir=options.sourcedir,
                confdir=confdir,
                outdir=options.outputdir,
                doctreedir=options.doctreedir or f"{options.outputdir}/.doctrees",
                buildername=options.builder,
                confoverrides=settings,
                status=None if is_quiet else sys.stdout,
                warning=None if options.really_quiet else sys.stderr,
                freshenv=options.freshenv,
                warningiserror=options.warningiserror,
                tags=options.tags,
                verbosity=options.verbosity,
                parallel=options.jobs,
                exception_on_warning=options.exception_on_warning,
            )
            app.build(options.force_all, options.filenames)
            # The process ends now: collecting garbage in a large environment would take a second.
            gc.freeze()
            return int(app.statuscode)
    except KeyboardInterrupt:
        line = "interrupted"
    except Exception as error:
        line = describe_error(error)
    print(f"error: {line}", file=sys.stderr)
    return 2


def _restore_locale_dirs(settings: dict[str, Any]) -> None:
    """Turn the folders of catalogs into a list; ``project.locale_option`` says why they are text.

    Folders named on the command line come first.
    """
    folders = settings.get("recorded_gallery_locale_dirs")
    if not folders:
        return
    named_folders = settings.get("locale_dirs")
    if named_folders:
        settings["recorded_gallery_locale_dirs"] = named_folders.split(",")
    else:
        settings["recorded_gallery_locale_dirs"] = json.loads(folders)
    settings["locale_dirs"] = []


if __name__ == "__main__":
    sys.exit(main())
