"""A run leaves no process and no file and keeps its deadline, whatever is killed or hangs."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from nbformat import NotebookNode

from gallery import ROOT, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.record.run import remains, supervise
from recipe_gallery.record.run.remains import MARK, remove_leftovers, run_folder
from recipe_gallery.record.run.supervise import CellToRun, KernelDiedError
from recipe_gallery.record.tasks import task

RunCells = Callable[..., NotebookNode]

# Tells who is there, in a file, and what does all it can to get away.
FLEEING = """
import json, os, pathlib, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
flee = "import os, subprocess, sys; os.fork() and os._exit(0); os.setsid(); "
flee += "sys.stdout.write(str(subprocess.Popen(sys.argv[1:], stdout=-3, env={}).pid))"
done = subprocess.run([sys.executable, "-c", flee, *sleep], stdout=subprocess.PIPE, env={}, cwd="/")
pids = [int(done.stdout), subprocess.Popen(sleep, start_new_session=True).pid, os.getpid()]
pids += [os.getppid()]
pathlib.Path(PLACE).write_text(json.dumps(pids))
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, a long one."""
    folder = tmp_path / ("temporary-" + "x" * 90)
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """The file in which ``FLEEING`` tells its processes: fled, marked, kernel, worker."""
    yield tmp_path / "pids"
    for pid in read_pids(tmp_path / "pids") if (tmp_path / "pids").exists() else []:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def read_pids(place: Path) -> list[int]:
    wait_until(lambda: place.exists() and place.read_text().endswith("]"))
    return json.loads(place.read_text())


def fleeing(place: Path) -> str:
    return FLEEING.replace("PLACE", repr(str(place)))


def is_alive(pid: int) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def wait_until(is_so: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def _listen_to_signals() -> None:
    """Undo what nohup does, and a shell for what it runs in the background."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def recorder(gallery: Gallery) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Starts `record` for a recipe, as a person does."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str) -> "subprocess.Popen[str]":
        gallery.write("recipe", f'"""\nTitle\n=====\n"""\n{textwrap.dedent(code)}')
        command = [sys.executable, "-m", "recipe_gallery", "record", "--device", "cpu"]
        command += ["--root", str(gallery.root)]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=_listen_to_signals,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.fast
def test_nothing_is_left_of_a_run_that_ends_well(
    run: RunCells, place: Path, temporary: Path
) -> None:
    run(fleeing(place), "import tempfile\ntempfile.mkdtemp()\nopen('left', 'w').close()")
    assert not any(map(is_alive, read_pids(place)))
    assert [each.name for each in temporary.iterdir() if "recipe-run" in each.name] == []


@pytest.mark.skipif(not Path("/dev/shm").exists(), reason="shared memory is no files here")
def test_shared_memory_that_a_recipe_leaves_is_removed(run: RunCells, tmp_path: Path) -> None:
    name = f"test_{os.getpid()}_{tmp_path.name}"
    run(
        "from multiprocessing.shared_memory import SharedMemory\n"
        f"memory = SharedMemory({name!r}, create=True, size=100)"
    )
    assert not Path("/dev/shm", name).exists()


def test_nothing_is_left_when_the_kernel_is_killed(
    run: RunCells, place: Path, temporary: Path
) -> None:
    kill = "import signal\nos.kill(os.getpid(), signal.SIGKILL)"
    with pytest.raises(KernelDiedError, match="cell 2 of 2 ended early: the kernel was killed"):
        run(fleeing(place), kill)
    assert not any(map(is_alive, read_pids(place)))
    assert list(temporary.iterdir()) == []


def test_nothing_that_is_marked_is_left_when_the_worker_is_killed(
    run: RunCells, place: Path, temporary: Path
) -> None:
    kill = "import signal\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(600)"
    with pytest.raises(KernelDiedError, match=r"cell 2 of 2: the process .* was killed"):
        run(fleeing(place), kill)
    _fled, *others = read_pids(place)
    assert not any(map(is_alive, others))
    assert list(temporary.iterdir()) == []


def test_a_worker_that_is_asked_to_end_ends_all(
    run: RunCells, place: Path, temporary: Path
) -> None:
    ask = "import signal\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(600)"
    with pytest.raises(GalleryError, match=r"cell 2 of 2: the process .* exit status 1") as caught:
        run(fleeing(place), ask)
    assert not isinstance(caught.value, KernelDiedError)
    assert not any(map(is_alive, read_pids(place)))
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_nothing_is_left_when_the_recorder_is_ended(
    recorder: Callable[[str], "subprocess.Popen[str]"],
    place: Path,
    temporary: Path,
    number: signal.Signals,
) -> None:
    process = recorder(f"{fleeing(place)}\ntime.sleep(600)")
    pids = read_pids(place)
    for _ in range(5):  # as an impatient person does
        process.send_signal(number)
    _, messages = process.communicate(timeout=60)
    assert "Traceback" not in messages
    if number == signal.SIGKILL:  # the worker sees it, and ends itself last
        wait_until(lambda: not any(map(is_alive, pids)))
        wait_until(lambda: not list(temporary.iterdir()))
    else:
        assert process.returncode == 130
        assert not any(map(is_alive, pids))
        assert list(temporary.iterdir()) == []


def test_what_a_killed_recorder_and_worker_left_is_removed_later(
    recorder: Callable[[str], "subprocess.Popen[str]"],
    gallery: Gallery,
    place: Path,
    temporary: Path,
) -> None:
    process = recorder(f"{fleeing(place)}\ntime.sleep(600)")
    fled, marked, kernel, worker = read_pids(place)
    os.kill(worker, signal.SIGSTOP)  # it cannot see its recorder end
    for pid in (process.pid, worker):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(kernel))  # it sees its worker end
    assert is_alive(marked)
    assert len([each for each in temporary.iterdir() if each.is_dir()]) == 1
    gallery.write("recipe", '"""\nTitle\n=====\n"""\nx = 1\n')
    assert gallery.record("recipe")
    expected = (
        "note: a recording was killed before; what it left is removed: folders: 1, processes: 1"
    )
    assert expected in gallery.messages
    assert not is_alive(marked)
    assert not any(each.is_dir() for each in temporary.iterdir())
    os.kill(fled, signal.SIGKILL)


def test_what_works_in_a_folder_left_behind_is_ended_but_no_person_looking(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    left = temporary / "recipe-run-left"
    (left / "work" / "locked").mkdir(parents=True)
    (left / "work" / "locked" / "file").touch()
    (left / "owner.lock").touch()
    (left / "work" / "locked").chmod(0)
    (left / "link").symlink_to(temporary / "beside")
    (temporary / "beside").mkdir(mode=0o500)
    (temporary / "by_link").symlink_to(temporary)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "by_link"))
    working = subprocess.Popen(sleep, cwd=left / "work", env={}, start_new_session=True)
    master, terminal = pty.openpty()
    code = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {sleep[-1]}"
    looking = subprocess.Popen(
        [sys.executable, "-c", code], cwd=left, stdin=terminal, env={}, start_new_session=True
    )
    try:
        wait_until(lambda: psutil.Process(looking.pid).terminal())
        assert remove_leftovers().endswith("folders: 1, processes: 1")
        assert working.poll() is not None
        assert looking.poll() is None
        assert {each.name for each in temporary.iterdir()} == {"beside", "by_link"}
        assert (temporary / "beside").stat().st_mode & 0o777 == 0o500
        assert remove_leftovers() == ""
    finally:
        for process in (working, looking):
            process.kill()
            process.wait()
        os.close(master)
        os.close(terminal)


@pytest.mark.slow
def test_a_run_whose_recorder_lives_is_left_alone(temporary: Path) -> None:
    with run_folder() as folder:
        code = "import time; time.sleep(600)"
        environment = {MARK: str(folder)}
        child = subprocess.Popen([sys.executable, "-c", code], env=environment)
        try:
            found = "from recipe_gallery.record.run.remains import remove_leftovers as remove"
            program = [sys.executable, "-c", f"{found}\nprint(remove())"]
            assert subprocess.check_output(program, cwd=ROOT, text=True) == "\n"
            assert folder.exists()
            assert child.poll() is None
        finally:
            child.kill()
            child.wait()
    assert list(temporary.iterdir()) == []


def test_a_folder_of_a_run_is_known_by_its_name_while_it_is_held(temporary: Path) -> None:
    with run_folder() as folder:
        assert folder.name.startswith("recipe-run-")
        assert [path.name for path in temporary.iterdir()] == [folder.name]
        assert remove_leftovers() == ""
        assert folder.is_dir()
    assert list(temporary.iterdir()) == []


def test_what_is_no_folder_of_a_run_stays(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "owner.lock").touch()
    (temporary / "recipe-run-link").symlink_to(tmp_path / "kept")
    (temporary / "recipe-run-file").touch()
    (temporary / "recipe-run-results").mkdir()  # a person's
    assert remove_leftovers() == ""
    assert (tmp_path / "kept" / "owner.lock").exists()
    assert (temporary / "recipe-run-results").exists()
    others = temporary / "recipe-run-others"
    others.mkdir()
    (others / "owner.lock").touch()
    monkeypatch.setattr(os, "getuid", lambda: others.stat().st_uid + 1)
    assert remove_leftovers() == ""
    assert others.exists()


def test_a_probe_whose_recorder_was_killed_is_ended_later(
    recorder: Callable[[str], "subprocess.Popen[str]"],
    gallery: Gallery,
    place: Path,
    temporary: Path,
) -> None:
    code = (
        f"import os, pathlib, time; pathlib.Path({str(place)!r}).write_text(f'[{{os.getpid()}}]')"
    )
    settings = f'[provenance]\nprobe = """{code}; time.sleep(600)"""\n'
    (gallery.recipes / "recording.toml").write_text(settings)
    process = recorder("x = 1")
    (pid,) = read_pids(place)
    process.kill()
    process.wait()
    assert remove_leftovers().endswith("folders: 1, processes: 1")
    assert not is_alive(pid)
    assert not any(each.is_dir() for each in temporary.iterdir())


@pytest.mark.slow
def test_ending_gives_up_on_what_cannot_be_killed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import time; time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], env={MARK: str(temporary)})
    monkeypatch.setattr(psutil.Process, "kill", lambda process: None)
    monkeypatch.setattr(remains, "_PATIENCE", 1.5)
    try:
        started = time.monotonic()
        assert remains.end_processes(temporary) == 1
        assert 1.5 <= time.monotonic() - started < 10
    finally:
        os.kill(child.pid, signal.SIGKILL)
        child.wait()


def fail_in_time(run: RunCells, *cells: str, seconds: float, **changes: object) -> str:
    """Return why cells fail; it takes them not much longer than their deadline."""
    started = time.monotonic()
    with pytest.raises(GalleryError) as caught:
        run(*cells, deadline=seconds, **changes)
    assert time.monotonic() - started < seconds + 15  # the machine may be busy
    assert "\n" not in caught.value.text
    return caught.value.text


def test_the_deadline_bounds_the_start_of_the_kernel(run: RunCells, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(600)\n")
    text = fail_in_time(run, "x = 1", seconds=3, environment={"PYTHONPATH": str(tmp_path)})
    assert text == "the kernel did not start in time (sphinx_gallery_deadline = 3 s)"


def test_a_kernel_that_cannot_start_says_why(run: RunCells, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os\nos.write(2, b'no!')\nos._exit(3)\n")
    with pytest.raises(GalleryError) as caught:
        run("x = 1", environment={"PYTHONPATH": str(tmp_path)})
    expected = "the kernel did not start: the kernel's process ended with exit status 3"
    assert caught.value.text == expected
    assert caught.value.remedy == "install what recipes need\n    no!"


def test_where_time_ran_out_is_told(
    run: RunCells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "_module.py"
    cells = (
        CellToRun(number=1, line=10, code="x = 1", raises=None),
        CellToRun(number=2, line=3, code="y = 2", raises=None, module=module),
    )
    monkeypatch.setattr(supervise, "_worker", lambda _run: contextlib.nullcontext((None, None)))
    told = []
    for number in range(3):
        events = [*({"event": "cell", "cell": each + 1} for each in range(number)), None]
        monkeypatch.setattr(supervise, "_read", lambda *_, events=events: iter(events))
        with pytest.raises(GalleryError) as caught:
            run(cells=cells)
        told.append((caught.value.text.partition(" ran ")[0], caught.value.path, caught.value.line))
    recipe = tmp_path / "recipe.py"
    assert told == [
        ("starting the kernel", recipe, None),
        ("cell 1 of 2", recipe, 10),
        ("cell 2 of 2", module, 3),
    ]


def test_the_deadline_bounds_the_cleaning_of_outputs(
    run: RunCells, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "GRACE", 1)
    hopeless = "x = 1", f"print({'a' * 60 + 'b'!r})"
    text = fail_in_time(run, *hopeless, seconds=6, drop=("(a+)+$",))
    limit = "ran out of time (sphinx_gallery_deadline = 6 s)"
    assert text == f"cleaning the outputs of cell 2 of 2 {limit}"


def test_a_worker_that_is_stopped_keeps_the_deadline(
    run: RunCells, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.setattr(supervise, "GRACE", 1)
    stop = "import signal\nos.kill(os.getppid(), signal.SIGSTOP)\ntime.sleep(600)"
    text = fail_in_time(run, fleeing(place), stop, seconds=8)
    assert text == "cell 2 of 2 ran out of time (sphinx_gallery_deadline = 8 s)"
    assert not any(map(is_alive, read_pids(place)))


@pytest.mark.slow
def test_the_deadline_holds_for_both_tries_together(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = []

    def run_slowly(run: supervise.Run, *_hearers: object) -> NotebookNode:
        left.append(run.time_left())
        time.sleep(0.5)
        raise KernelDiedError("killed", path=run.recipe)

    monkeypatch.setattr(task, "run_recipe", run_slowly)
    gallery.write("recipe", '"""\nT\n=\n"""\n# sphinx_gallery_deadline = 9\nx = 1\n')
    assert not gallery.record("recipe")
    assert "trying once more" in gallery.messages
    assert gallery.messages.count("recipe.py: killed") == 2
    assert not list(gallery.recordings.glob("*.ipynb"))
    first, second = left
    assert second <= first - 0.5


def test_what_keeps_the_worker_from_working_is_told(
    run: RunCells, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GalleryError) as caught:
        run("x = 1", drop=("(",))  # it was checked before: a defect of the recorder
    assert caught.value.text.startswith("the recorder failed: error: missing )")
    assert caught.value.remedy.startswith("please report it with the lines below\nTraceback")
    with pytest.raises(GalleryError) as caught:
        run("x = 1", "import os\nos.mkdir('../notebook.json')")
    assert caught.value.text.endswith("/notebook.json: Is a directory")
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(GalleryError) as caught:
        run("x = 1")
    start = "starting the kernel: the process that runs the recipe ended with exit status 1"
    assert caught.value.text == start
    assert "No module named" in caught.value.remedy


def test_a_run_that_nobody_wants_any_more_is_ended(run: RunCells, place: Path) -> None:
    with pytest.raises(GalleryError, match="nobody waits for its result any more"):
        run(fleeing(place), "time.sleep(600)", is_wanted=lambda: not place.exists())
    assert not any(map(is_alive, read_pids(place)))
