"""`recorded-gallery serve`: what it says of a port, before a build that takes a while."""

import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from sphinx_recorded_gallery.__main__ import main
from tests.helpers.gallery import ROOT, Gallery


@contextmanager
def taken_port() -> Iterator[int]:
    """A port that another program serves."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@contextmanager
def served(folder: Path, *arguments: str) -> Iterator[str]:
    """Start a command; yield the address that it prints, and end it as Ctrl-C does."""
    command = [sys.executable, "-m", "sphinx_recorded_gallery", *arguments, "--root", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = next(line.split()[1] for line in process.stdout if line.startswith("serving "))
        yield address
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0


@pytest.mark.parametrize("language", ["", "en"])
def test_a_taken_port_is_told_before_anything_is_built(
    gallery: Gallery, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    folder = gallery.root / "made"
    names = [language] if language else []
    with taken_port() as port:
        asked = ["serve", *names, "--build", str(folder), "--port", str(port)]
        assert main([*asked, "--root", str(gallery.root)]) == 1
    said = capsys.readouterr()
    command = shlex.split(said.err.partition("run: ")[2])
    assert said.err.startswith(f"error: port {port} is taken; run: ")
    assert command[: 2 + len(names)] == ["recorded-gallery", "serve", *names]
    assert port < int(command[command.index("--port") + 1]) <= port + 100
    assert command[command.index("--build") + 1] == str(folder)
    assert said.out == ""
    assert not folder.exists()


@pytest.mark.parametrize("port", ["-1", "70000"])
def test_a_port_that_there_cannot_be_is_one_line(
    gallery: Gallery, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    assert main(["serve", "--port", port, "--root", str(gallery.root)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: port {port} cannot be used: ")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_what_was_built_is_served_until_ctrl_c(gallery: Gallery, tmp_path: Path) -> None:
    gallery.add()
    with (
        served(gallery.root, "serve", "--port", "0", "--build", str(tmp_path / "made")) as address,
        urlopen(f"{address}en/recipes/adding.html") as answer,
    ):
        assert "recorded" in answer.read().decode().lower()
