import re
import subprocess

from gallery import ROOT


def test_help_lists_every_target_from_its_comment() -> None:
    makefile = (ROOT / "Makefile").read_text()
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    phony = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    targets = " ".join(phony).split()
    assert len(targets) > 10
    for target in targets:
        assert re.search(rf"make {target} +\w", done.stdout), target


def test_an_unknown_recipe_is_one_clear_line(make: list[str]) -> None:
    command = [*make, "-s", "record", "RECIPES=no_such_recipe", "DEVICE=cpu"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0
    assert "no recipe named no_such_recipe; there are: " in done.stderr
    assert "Traceback" not in done.stderr


def test_live_names_an_editor_only_if_one_is_given(make: list[str]) -> None:
    def line(*settings: str) -> str:
        command = [*make, "-n", "live", "LANGUAGE=ko", *settings]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout

    assert "--editor-link" not in line()
    assert '--editor-link "x://{path}&{line}" ko' in line("EDITOR_LINK=x://{path}&{line}")
    assert '--editor-link "" ko' in line("EDITOR_LINK=")  # places can be copied only
