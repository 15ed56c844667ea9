import re
import subprocess

from tests.helpers.gallery import ROOT


def test_help_lists_every_target_from_its_comment() -> None:
    makefile = (ROOT / "Makefile").read_text()
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    phony = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    targets = " ".join(phony).split()
    assert len(targets) > 10
    for target in targets:
        assert re.search(rf"make {target} +\w", done.stdout), target
