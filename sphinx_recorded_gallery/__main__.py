"""Command line: ``recorded-gallery --help``.

Every error of a command becomes one line and an exit status: 0 for success, 1 if there is
something to correct, 2 for wrong arguments, 130 after an interruption.
"""

import contextlib
import io
import os
import shlex
import shutil
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    status = 1
    options = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        os.environ["RECORDED_GALLERY_PROGRAM"] = _name_program()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 (for the whole process)
    if isinstance(sys.stdout, io.TextIOWrapper):  # for terminals that cannot show all letters
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = _run(options)
    except BrokenPipeError:
        pass  # the reader, such as head, has closed the pipe
    except KeyboardInterrupt:
        _tell("interrupted; what was finished is kept")
        status = 130
    except Exception as error:
        from .errors import describe_error

        _tell(f"error: {describe_error(error)}")
        if "-v" in options or "--verbose" in options:
            traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # Python would flush once more at its end, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status


def _name_program() -> str:
    """Return how this command was started, so that messages can suggest further commands.

    A virtual environment that is not activated has no ``recorded-gallery`` on the path.
    """
    script = sys.argv[0]
    if Path(script).name == "__main__.py":
        python = Path(sys.executable)
        if python.is_relative_to(Path.cwd()):
            python = python.relative_to(Path.cwd())
        return f"{shlex.quote(str(python))} -m {__package__}"
    name = Path(script).name
    on_path = shutil.which(name)
    if on_path and Path(on_path).samefile(script):
        return name
    return shlex.quote(script)


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):  # a full disk, or a reader that is gone
        print(line, file=sys.stderr, flush=True)


def _run(arguments: Sequence[str]) -> int:
    # Imported here: it takes half a second, and Ctrl-C has to end in one line meanwhile, too.
    from .commands import parse_arguments
    from .planted_links import refuse_planted_links
    from .project import load_project

    with contextlib.suppress(ValueError):  # raised in any thread but the first
        # SIGTERM then ends what a command has started, as Ctrl-C does.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parse_arguments(arguments)
    os.environ["RECORDED_GALLERY_ROOT"] = str(options.root)  # for what messages suggest
    project = load_project(options.root)
    refuse_planted_links(project)
    os.environ["RECORDED_GALLERY_DEVICE"] = project.config.recorded_gallery_device
    has_succeeded = options.run(project, options)
    sys.stdout.flush()
    return 1 if has_succeeded is False else 0


if __name__ == "__main__":
    sys.exit(main())
