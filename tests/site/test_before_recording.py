"""What ``make record`` refuses before anything runs, in one program."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.gallery import ROOT

TITLE = b'"""\nTitle\n=====\n"""\n\n'


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("mine", b"x = 1\n# caf\xe9\n", "mine.py:2: byte 0xe9 is not valid UTF-8"),
        ("Mine", b"", "Mine.py: the name of a recipe has small"),
        (
            "mine",
            TITLE + b"import math\nfrom _bench import x\n",
            "mine.py:7: downloads would lack _bench",
        ),
        ("mine", TITLE + b"bench.compare('a', f, sizes=4)\n", "mine.py:6: 4 stands alone as sizes"),
    ],
)
def test_a_recipe_is_refused(tmp_path: Path, name: str, text: bytes, told: str) -> None:
    (tmp_path / "_bench.py").write_text('"""How it is timed."""\n\nx = 1\n')
    (tmp_path / f"{name}.py").write_bytes(text)
    command = [sys.executable, "-m", "second_call.before_recording", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path}/{told}")
    assert done.stderr.count("\n") == 1


def test_it_comes_first() -> None:
    commands = (ROOT / "Makefile").read_text().partition("\nrecord:")[2].partition("\n\n")[0]
    assert "second_call.before_recording recipes_source" in commands.splitlines()[1]
