"""What a build imports; the directions of all imports are for tests/imports.py, in `make lint`."""

import subprocess
import sys

import pytest

from tests.helpers.gallery import ROOT, Gallery


@pytest.mark.slow
def test_building_a_site_imports_nothing_of_recording(site: Gallery) -> None:
    code = (
        "import sys; from sphinx.cmd.build import main; status = main(sys.argv[1:]); "
        "kept_out = ('sphinx_recorded_gallery.record.', 'nbclient', 'torch'); "
        "print([each for each in sys.modules if each.startswith(kept_out)]); "
        "sys.exit(status)"
    )
    site.add_extension("second_call")
    command = [sys.executable, "-c", code, "-q", "-b", "html", site.root, site.root / "out"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"
