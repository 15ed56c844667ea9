import re
import subprocess

from gallery import ROOT


def test_help_lists_every_target_from_its_comment() -> None:
    makefile = (ROOT / "Makefile").read_text()
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = " ".join(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)).split()
    assert len(targets) > 10
    for target in targets:
        assert re.search(rf"make {target} +\w", done.stdout), target


def test_an_unknown_recipe_is_one_clear_line() -> None:
    command = ["make", "-s", "record", "RECIPES=no_such_recipe", "DEVICE=cpu"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "no recipe named no_such_recipe in recipes_source; there are: " in done.stderr
    assert "Traceback" not in done.stderr
