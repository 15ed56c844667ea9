"""Render the site, and serve it to the browsers of this machine."""

import argparse
import errno
import shlex
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ..errors import GalleryError, suggest
from ..languages import choose_languages
from ..project import Project
from .arguments import LANGUAGES, argument, command
from .site import build_site

_HOST = "127.0.0.1"
_BUILD = Path("_build")
_LAST_PRIVILEGED_PORT, _LAST_PORT = 1023, 65535


@command(
    "serve",
    LANGUAGES,
    argument("--build", type=Path, default=_BUILD, help="folder for the built site"),
    argument("--port", type=int, default=8000, help="by default 8000; 0 for any free one"),
    takes_sphinx_options=True,
)
def serve(project: Project, options: argparse.Namespace) -> bool:
    """Render the site as html does, and serve it until Ctrl-C."""
    languages = choose_languages(project.root, options.languages, project.config.language)
    build = Path.cwd() / options.build
    # The port is reserved first: that it is taken should not come to light after a long build.
    with bind_server(options, build / "html") as server:
        if not build_site(project, build, languages, options.sphinx_options):
            return False
        server.server_activate()
        print(f"serving http://localhost:{server.server_port}/ until Ctrl-C", flush=True)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
    return True


def bind_server(options: argparse.Namespace, folder: Path) -> ThreadingHTTPServer:
    """Return a server of ``folder`` that holds its port but does not answer yet.

    Raises ``GalleryError``, which names a free port, if the port cannot be used.
    """
    handler = partial(_Handler, directory=str(folder))
    server = ThreadingHTTPServer((_HOST, options.port), handler, bind_and_activate=False)
    try:
        server.server_bind()
    except (OSError, OverflowError) as error:
        server.server_close()
        text = f"cannot be used: {error}"
        if _is_taken(error):
            text = "is taken"
        words = [*options.languages, f"--port {_find_free_port(options.port)}"]
        if options.build != _BUILD:
            words.append(f"--build {shlex.quote(str(options.build))}")
        command = suggest("serve", "", *words)
        raise GalleryError(f"port {options.port} {text}", remedy=f"run: {command}") from None
    return server


def _is_taken(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EADDRINUSE


def _find_free_port(asked: int) -> int:
    """Return the first free port above the one that was asked for; 0, for any, if there is none."""
    first = max(asked, _LAST_PRIVILEGED_PORT) + 1
    last = min(first + 99, _LAST_PORT)
    for port in range(first, last + 1):
        if _is_free(port):
            return port
    return 0


def _is_free(port: int) -> bool:
    try:
        ThreadingHTTPServer((_HOST, port), SimpleHTTPRequestHandler).server_close()
    except OSError:
        return False
    return True


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Print nothing for requests."""
