"""What to do where an example imports what there is not: a package, a part of one, a library."""

import re
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

# Exceptions of imports, and of looking for a package's version
IMPORT_ERRORS = {"ModuleNotFoundError", "ImportError", "PackageNotFoundError"}
_NO_MODULE = re.compile(r"No module named '(?P<name>[\w.]+)'")
_SHADOWED = re.compile(r"No module named '[\w.]+'; '(?P<name>[\w.]+)' is not a package")
_NO_NAME = re.compile(
    r"cannot import name '\w+' from (?:partially initialized module )?'(?P<name>[\w.]+)'"
)
_NO_LIBRARY = re.compile(r"(?P<name>\S+): cannot open shared object file")
_OWN_MODULE = (
    "for a module of the project, name its folder in recording.toml, as conf.py does for sys.path: "
    'PYTHONPATH = "{recipes}/../src" under [environment]'
)


def suggest_installation() -> str:
    """Return how to install what examples need, for whoever records them on any machine."""
    python = Path(sys.executable)
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    # The name of a package may be another one than that of its module: it is left to the author.
    command = f"{shlex.quote(str(python))} -m pip install"
    return (
        f"install the packages that examples need where they run ({command} ...), and name them "
        "in the project's requirements, so that others can record it, too"
    )


def suggest_for_import(value: str) -> str:
    """Return the remedy for the message ``value`` of an exception in ``IMPORT_ERRORS``."""
    if match := _SHADOWED.match(value):
        return f"rename the file {match['name']}.py, which is imported in place of a package"
    if match := _NO_NAME.match(value):
        name = match["name"]
        if "partially initialized module" in value:
            return "import in one direction only: two modules import each other"
        return f"mend the example, or install another version of {_describe(name)}"
    if match := _NO_LIBRARY.match(value):
        return f"install the system's package that has {match['name']} on the machine that records"
    match = _NO_MODULE.match(value)
    if match:
        package, dot, _part = match["name"].partition(".")
        if package in sys.stdlib_module_names:
            return f"mend the example, or record with a Python that has {match['name']}"
        if dot and _is_installed(package):
            return f"mend the example, or install another version of {_describe(package)}"
        return f"{suggest_installation()}; {_OWN_MODULE}"
    return suggest_installation()  # such as of a package that is only needed for some functions


def _is_installed(package: str) -> bool:
    """Tell whether a package can be imported here, without doing so."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _describe(module: str) -> str:
    """Return the package of a module, with the version that is installed, if that is known."""
    package = module.partition(".")[0]
    try:
        return f"{package}, which is {metadata.version(package)} here"
    except (metadata.PackageNotFoundError, ValueError):
        return package
