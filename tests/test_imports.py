"""The packages keep to the directions and the number of lines of tests/imports.py."""

import subprocess
import sys

from gallery import ROOT, Gallery
from imports import MOST_LINES, count_lines, find_wrong_imports


def test_imports_have_the_directions_of_the_design() -> None:
    assert list(find_wrong_imports()) == []


def test_the_packages_have_not_grown() -> None:
    assert count_lines() <= MOST_LINES, "which user pays for it? MOST_LINES stands in imports.py"


def test_building_a_site_imports_nothing_of_recording(site: Gallery) -> None:
    code = (
        "import sys; from sphinx.cmd.build import main; status = main(sys.argv[1:]); "
        "kept_out = ('recipe_gallery.record.', 'nbclient', 'torch'); "
        "print([each for each in sys.modules if each.startswith(kept_out)]); "
        "sys.exit(status)"
    )
    site.add_extension("second_call")
    command = [sys.executable, "-c", code, "-q", "-b", "html", site.root, site.root / "out"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
