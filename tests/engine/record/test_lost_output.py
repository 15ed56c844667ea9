"""Whatever a recipe prints is recorded, however fast it prints and however busy the recorder is."""

import subprocess
import sys
import textwrap

import pytest

from gallery import ROOT, Gallery
from recipe_gallery.recipes.recording import find_data

# Stops whoever reads the kernel's output, as a busy machine does, while the recipe goes on.
STOP_THE_READER = """
    import os, signal, subprocess, sys
    reader = os.getppid()
    code = f"import os, time; time.sleep(2); os.kill({reader}, {signal.SIGCONT.value})"
    subprocess.Popen([sys.executable, "-c", code])
    os.kill(reader, signal.SIGSTOP)
"""


@pytest.mark.slow
def test_no_line_is_lost_while_the_reader_is_stopped(gallery: Gallery) -> None:
    lines = 5000
    code = f"""
{STOP_THE_READER}
    import logging
    from IPython.display import display
    logging.basicConfig(level="INFO", format="%(message)s")
    for number in range({lines}):
        logging.info("line %d", number)
    display({{"application/x-headline+json": {{"a": 1}}}}, raw=True)
    """
    gallery.write("recipe", '"""\nTitle\n=====\n"""\n' + textwrap.dedent(code))
    command = [sys.executable, "-m", "recipe_gallery", "record", "--device", "cpu"]
    command += ["--root", str(gallery.root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    notebook = gallery.recording("recipe").notebook
    text = "".join(each.get("text", "") for each in notebook.cells[0].outputs)
    assert text.splitlines() == [f"line {number}" for number in range(lines)]
    shown = [data for _number, data in find_data(notebook)]
    assert shown == [{"application/x-headline+json": {"a": 1}}]


def test_a_widget_catches_no_output_and_ends_no_recording(gallery: Gallery) -> None:
    # a comm without the state that widgets send, as a library of somebody's own may open
    code = """
        import comm
        comm.create_comm(target_name="jupyter.widget", data={"a": 1}).send({"b": 2})
        print("fine")
        """
    gallery.write("recipe", '"""\nTitle\n=====\n"""\n' + textwrap.dedent(code))
    assert gallery.record("recipe"), gallery.messages
    assert gallery.recording("recipe").notebook.cells[0].outputs[0].text == "fine\n"
