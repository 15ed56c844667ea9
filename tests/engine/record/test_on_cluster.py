"""Tasks handed out to workers of a cluster that is pretended: no process starts, nobody waits."""

import io
import signal
import threading
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.scheduler import KilledWorker
from fake_dask import FakeClient, FakeJob, FakeQueue, at_once

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.project import load_project
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.record.cluster import on_cluster
from recipe_gallery.record.cluster import workers as cluster_workers
from recipe_gallery.record.cluster.code import describe_code
from recipe_gallery.record.cluster.local import describe_loss
from recipe_gallery.record.cluster.on_cluster import OnCluster
from recipe_gallery.record.cluster.remote import Refusal
from recipe_gallery.record.cluster.workers import Workers
from recipe_gallery.record.progress import Progress
from recipe_gallery.record.recording_status import name_files
from recipe_gallery.record.run.interruption import end_as_ctrl_c_does
from recipe_gallery.record.tasks.task import Failure, Result, Task

CODE = '"""\nTitle\n=====\n\nText.\n"""\nx = 1\n\n# %%\n# More\n# ----\nx = 2\n'
NOBODY = "there was no worker for 60 s; start some: recipe-gallery record-worker tcp://..."
GONE = "the scheduler is gone; what was finished is kept; start it, and the same command goes on"


def killed_worker() -> KilledWorker:
    return KilledWorker("task", SimpleNamespace(address="one"), 0)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    made = FakeClient()
    for module in (on_cluster, cluster_workers):
        monkeypatch.setattr(module, "time", made.clock)
    monkeypatch.setattr(cluster_workers, "threading", SimpleNamespace(Thread=at_once))
    return made


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def runner(client: Any, said: io.StringIO) -> OnCluster:
    queue: Any = FakeQueue(client.clock)
    return OnCluster(client=client, device="cpu", progress=Progress(said), _told=queue)


@pytest.fixture
def tasks(gallery: Gallery) -> Callable[..., deque[Task]]:
    """Makes page runs of recipes of these names, or a replicate by its number."""

    def make(*names: str, head: str = "", number: int = 0) -> deque[Task]:
        for name in names:
            gallery.write(name, CODE.replace("x = 1", f"{head}\nx = 1"))
        files = name_files(load_project(gallery.root))
        recipes = {name: load_recipe(files[name].path, name) for name in names}
        return deque(Task(file=files[name], recipe=recipes[name], number=number) for name in names)

    return make


def gives(job: FakeJob) -> None:
    """Give a result at once."""
    job.finish(Failure(text=f"what {job.order.name} gave"))


def leaves(job: FakeJob) -> None:
    job.leave()


def told(results: list[tuple[Task, Result]]) -> list[tuple[str, str]]:
    return [(task.title, result.text) for task, result in results if isinstance(result, Failure)]


def of(*names: str) -> list[tuple[str, str]]:
    return [(name, f"what {name} gave") for name in names]


def test_each_worker_gets_a_task_when_it_has_none(
    client: FakeClient, runner: OnCluster, said: io.StringIO, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one")
    assert runner.places == {("host", "CPU")}
    client.later += [
        lambda: None,
        lambda: client.join("two", gives, ("host", "CPU 2")),
        lambda: None,
        lambda: gives(client.jobs[0]),
    ]
    waiting = tasks("a", "b", "c")
    assert told([*runner.run(waiting)]) == of("b", "c", "a")
    assert client.given == [("one", "a"), ("two", "b"), ("two", "c")]
    assert runner.places == {("host", "CPU"), ("host", "CPU 2")}
    assert said.getvalue() == ""


def test_tasks_that_are_added_meanwhile_are_done(
    client: FakeClient, runner: OnCluster, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one", gives)
    waiting, seen = tasks("a"), []
    for task, _ in runner.run(waiting):
        seen.append(task.title)
        if len(seen) == 1:
            waiting += tasks("b", number=2)
    assert seen == ["a", "b replicate 2"]


def test_a_worker_is_sent_what_a_task_is_known_by(
    client: FakeClient, runner: OnCluster, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one", gives)
    first, second = [*tasks("a"), *tasks("b", number=3)]
    assert len([*runner.run(deque([first, second]))]) == 2
    assert client.clock.now == 0  # what is done is heard at once
    orders = [each.order for each in client.jobs]
    assert [(each.name, each.number, each.device) for each in orders] == [
        ("a", 0, "cpu"),
        ("b", 3, "cpu"),
    ]
    assert [each.code for each in orders] == [describe_code(first), describe_code(second)]
    assert {each.session for each in orders} == {runner.session}
    assert runner.session.startswith("recipes-")  # what a person sees of it on Dask's dashboard
    assert len({each.key for each in orders}) == 2  # Dask would do no task twice of one key
    assert all(each.key.startswith(f"{runner.session}-") for each in orders)
    assert OnCluster(client=runner.client, device="cpu", progress=runner.progress).session != (
        runner.session
    )


def test_a_line_tells_each_cell_and_how_long_all_will_take(
    client: FakeClient, runner: OnCluster, said: io.StringIO, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one")

    def tell(event: str, **facts: object) -> Callable[[], None]:
        return lambda: client.jobs[-1].tell(event, **facts)

    client.later += [
        *(lambda: None, tell("taken"), tell("start"), tell("cell", cell=1)),
        lambda: client.clock.sleep(100),
        *(tell("cell", cell=2), tell("start"), tell("cell", cell=1)),
        lambda: client.clock.sleep(98),
        lambda: gives(client.jobs[-1]),
        *(lambda: None, tell("start"), tell("cell", cell=1), lambda: gives(client.jobs[-1])),
        *(lambda: None, tell("cell", cell=1), tell("start"), lambda: gives(client.jobs[-1])),
    ]
    assert told([*runner.run(tasks("a", "b", "c"))]) == of("a", "b", "c")
    assert said.getvalue().splitlines() == [
        "0 of 3 done; a on name of one: cell 1 of 2, 0 s",
        "0 of 3 done; a on name of one: cell 2 of 2, 101 s",
        "0 of 3 done; a on name of one: cell 1 of 2, 101 s",  # once more, within the same time
        "1 of 3 done; b on name of one: cell 1 of 2, 0 s, about 7 min left",
        "2 of 3 done; c on name of one: cell 1 of 2, 0 s, about 2 min left",
    ]


def test_a_terminal_shows_how_much_of_all_is_done(
    client: FakeClient, tasks: Callable[..., deque[Task]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    terminal, queue = io.StringIO(), FakeQueue(client.clock)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    runner = OnCluster(
        **{"client": client, "device": "cpu", "_told": queue}, progress=Progress(terminal)
    )
    client.join("one", gives)
    client.later += [
        lambda: None,
        lambda: client.join("one"),  # from now on it waits
        lambda: client.join("two"),
        lambda: client.jobs[1].tell("cell", cell=2),
        *(lambda: gives(client.jobs[1]), lambda: gives(client.jobs[2])),
        *(lambda: gives(client.jobs[3]), lambda: None),
    ]
    assert len([*runner.run(tasks("a", "b", "c", "d"))]) == 4
    assert terminal.getvalue() == (
        "\r\x1b[K[#####...............] 1 of 4 done: b 2/2 on name of one, c 0/2 on name of two"
    )


def test_what_workers_say_is_said_once(
    client: FakeClient, runner: OnCluster, said: io.StringIO, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one")
    client.later += [
        lambda: None,
        lambda: client.jobs[0].tell("say", text="note: no clocks"),
        lambda: client.jobs[0].tell("say", text="note: no clocks"),
        lambda: client.tell(runner.session, {"key": "another", "event": "say", "text": "late"}),
        lambda: client.tell(runner.session, {"event": "say", "text": "of nobody"}),
        lambda: client.jobs[0].tell("say", text="trying once more"),
        lambda: gives(client.jobs[0]),
    ]
    assert told([*runner.run(tasks("a"))]) == of("a")
    assert said.getvalue() == "note: no clocks\ntrying once more\n"


def test_a_refused_task_goes_to_another_worker(
    client: FakeClient, runner: OnCluster, said: io.StringIO, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one", lambda job: job.finish(Refusal(text="torch is 1, here it is 2")))
    client.later += [lambda: None, lambda: None, lambda: client.join("two", gives)]
    runs = runner.run(tasks("a", "b"))
    with pytest.raises(GalleryError) as caught:
        next(runs)
    assert str(caught.value) == (
        "no worker fits: name of one: torch is 1, here it is 2; "
        "bring all machines to the same commit and the same versions"
    )
    assert said.getvalue() == "note: worker name of one is refused: torch is 1, here it is 2\n"
    client.join("two", gives)
    assert told([*runner.run(tasks("a", "b"))]) == of("a", "b")
    assert client.given == [("one", "a"), ("two", "a"), ("two", "b")]


def test_a_task_whose_workers_are_lost_is_tried_three_times(
    client: FakeClient, runner: OnCluster, said: io.StringIO, tasks: Callable[..., deque[Task]]
) -> None:
    error = RuntimeError("no\nanswer")

    def dies(job: FakeJob) -> None:
        gives(job) if job.order.name == "b" else job.finish(error)

    client.join("one", leaves)
    client.later += [lambda: None, lambda: None, lambda: client.join("two", dies)]
    known = "was lost (RuntimeError: no answer)"
    failure = f"a: its worker {known}, 3 times; see what the recipe does to it"
    assert told([*runner.run(tasks("a", "b"))]) == [("a", failure), *of("b")]
    assert client.given == [("one", "a"), ("two", "a"), ("two", "a"), ("two", "b")]
    assert [each.cancelled for each in client.jobs] == [True, True, True, False]
    assert runner._done == 2
    assert said.getvalue() == (
        "note: a: its worker name of one was lost; it is tried again\n"
        f"note: a: its worker name of two {known}; it is tried again\n"
    )


@pytest.mark.parametrize(
    ("ended", "error", "told"),
    [
        (3, None, " (its process ended with exit status 3)"),
        (-9, killed_worker(), " (its process ended by signal SIGKILL (Killed))"),
        (None, killed_worker(), ""),  # which only says that it was lost
        (None, ValueError("a\x1bb"), " (ValueError: a<U+001B>b)"),
    ],
)
def test_of_a_lost_worker_what_is_known_is_told(
    monkeypatch: pytest.MonkeyPatch, ended: int | None, error: Exception | None, told: str
) -> None:
    ends = {} if ended is None else {"one": ended}
    monkeypatch.setattr("recipe_gallery.record.cluster.local._ended", ends)
    assert describe_loss(FakeClient(), "one", error) == told  # type: ignore[arg-type]
    assert not ends  # another one may get its address


@pytest.mark.parametrize(
    ("head", "events", "since", "seconds"),
    [
        # 180 to prepare, and as long as a cell may take; then 30 more than the run may, with 5
        ("", ["taken"], 2, 180 + 40),
        ("", ["taken", "start"], 3, 500 + 5 + 30),
        ("# sphinx_gallery_deadline = 12", ["taken", "start"], 3, 12 + 5 + 30),
        # a second try has no more time
        ("# sphinx_gallery_deadline = 12", ["start", "start"], 2, 12 + 5 + 30),
    ],
)
def test_a_worker_that_hangs_is_restarted_and_its_task_goes_to_another(
    client: FakeClient,
    runner: OnCluster,
    gallery: Gallery,
    tasks: Callable[..., deque[Task]],
    head: str,
    events: list[str],
    since: int,
    seconds: int,
) -> None:
    (gallery.recipes / "recording.toml").write_text("[limits]\ncell_timeout = 40\ndeadline = 500\n")
    restarted: list[float] = []

    def hangs(job: FakeJob) -> None:
        for each in events:
            client.later.append(lambda each=each: (client.clock.sleep(1), job.tell(each)))

    def restart(addresses: list[str], *, timeout: float, raise_for_error: bool) -> None:
        assert (addresses, timeout, raise_for_error) == (["one"], 5, False)
        restarted.append(client.clock.now)
        client.join("two", gives)
        raise ValueError("Restarting workers requires a nanny to be used.")

    client.restart_workers = restart
    client.join("one", hangs)
    assert told([*runner.run(tasks("a", head=head))]) == of("a")
    assert client.given == [("one", "a"), ("two", "a")]  # the first one is still listed
    assert restarted == [since + seconds + 1]
    assert client.jobs[0].cancelled


def test_a_task_that_no_worker_has_taken_is_waited_for(
    client: FakeClient, runner: OnCluster, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one")  # it may have one of another client
    client.later += [lambda: None, lambda: client.clock.sleep(9999), lambda: gives(client.jobs[0])]
    assert told([*runner.run(tasks("a"))]) == of("a")


def test_workers_are_waited_for(
    client: FakeClient, runner: OnCluster, tasks: Callable[..., deque[Task]]
) -> None:
    for _ in range(2):
        client.workers["other"] = {"resources": {}}  # of somebody else's, who has no places
        client.later += [lambda: None] * 119 + [lambda: client.join("one", gives)]
        assert len(runner.places) == 1  # after a minute without the last half second
        client.workers.clear()
        before = client.clock.now
        with pytest.raises(GalleryError, match=f"^{NOBODY}$"):
            next(runner.run(tasks("a")))
        assert client.clock.now - before == 60
    before = client.clock.now
    with pytest.raises(GalleryError, match=f"^{NOBODY}$"):
        _ = runner.places
    assert client.clock.now - before == 60


def test_a_scheduler_that_is_gone_is_told(
    client: FakeClient, runner: OnCluster, tasks: Callable[..., deque[Task]]
) -> None:
    def goes() -> None:
        raise OSError("Timed out trying to connect")

    def ends(job: FakeJob) -> None:
        client.status = "closed"
        job.finish(RuntimeError("cancelled"))

    client.later.append(goes)
    with pytest.raises(GalleryError, match=f"^{GONE}$"):
        _ = runner.places
    client.join("one", ends)
    runs = runner.run(tasks("a"))
    with pytest.raises(GalleryError, match=f"^{GONE}$"):
        next(runs)
    with pytest.raises(GalleryError, match=f"^{GONE}$"):
        _ = runner.places


def test_what_workers_do_is_cancelled_at_the_end(
    client: FakeClient, runner: OnCluster, tasks: Callable[..., deque[Task]]
) -> None:
    client.join("one", gives)
    client.later += [lambda: None, lambda: client.join("one")]
    assert told([next(runner.run(tasks("a", "b")))]) == of("a")
    runs = runner.run(tasks("b"))
    client.later += [lambda: None, lambda: signal.raise_signal(signal.SIGTERM)]
    with end_as_ctrl_c_does(), pytest.raises(KeyboardInterrupt):
        next(runs)
    runner.close()
    assert [each.cancelled for each in client.jobs] == [False, True]


def test_a_signal_ends_the_loop_in_its_order_wherever_it_arrives(
    client: FakeClient, runner: OnCluster, tasks: Callable[..., deque[Task]]
) -> None:
    with end_as_ctrl_c_does():
        for loop in (lambda: runner.places, lambda: [*runner.run(tasks("a"))]):
            client.later.append(lambda: signal.raise_signal(signal.SIGTERM))
            with pytest.raises(KeyboardInterrupt) as caught:
                loop()
            assert caught.traceback[-1].name == "hear"  # not in what the scheduler is asked
        # a result that is there is kept before
        client.join("one", gives)
        client.later += [lambda: None, lambda: signal.raise_signal(signal.SIGTERM)]
        runs = runner.run(tasks("a", "b"))
        assert told([next(runs)]) == of("a")
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            next(runs)
        assert client.given == [("one", "a")]


@pytest.fixture
def workers(client: Any, said: io.StringIO) -> Workers:
    return Workers(client=client, device="cpu", progress=Progress(said))


def test_a_worker_that_was_lost_is_waited_for_beside_one_that_is_refused(
    client: FakeClient, workers: Workers, said: io.StringIO
) -> None:
    client.join("a")
    client.join("b", answer=GalleryError("no GPU\n found"))
    client.join("c", answer=ValueError())
    assert workers.update()
    known = workers.places
    assert known == {("host", "CPU")}
    assert sorted(said.getvalue().splitlines()) == [
        "note: worker name of b is refused: no GPU found",
        "note: worker name of c is refused: ValueError()",
    ]
    workers.require(until=0)
    del client.workers["a"]
    del client.workers["c"]
    assert not workers.update()
    workers.require(until=1)
    with pytest.raises(GalleryError, match=r"no worker fits: name of [bc]: .*; bring all machines"):
        workers.require(until=0)
    client.join("d", answer=("other", "CPU"))
    assert workers.update()
    assert known == {("host", "CPU"), ("other", "CPU")}  # what they did is not done again
    assert len(said.getvalue().splitlines()) == 2  # told once


def test_workers_that_were_all_refused_are_not_waited_for(
    client: FakeClient, workers: Workers
) -> None:
    workers.require(until=1)
    client.join("a", answer=GalleryError("no GPU found"))
    assert not workers.update()
    with pytest.raises(GalleryError, match="no worker fits: name of a: no GPU found; bring "):
        workers.require(until=1)


def test_one_that_hangs_comes_back_as_another(client: FakeClient, workers: Workers) -> None:
    asked: list[list[str]] = []
    client.restart_workers = lambda addresses, **_: asked.append(addresses)
    client.join("a")
    client.join("b", answer=GalleryError("no GPU found"))
    assert workers.update()
    workers.restart("a")
    assert asked == [["a"]]
    assert not workers.update()  # though it is still listed
    workers.require(until=1)
    del client.workers["a"]
    client.join("c")
    assert workers.update()
    assert list(workers.fit) == ["c"]


def test_a_new_worker_that_does_not_answer_delays_nothing_and_is_told(
    client: FakeClient, workers: Workers, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Callable[[], object]] = {}

    def ask(target: Callable[[str], object], args: list[str], daemon: bool) -> SimpleNamespace:
        assert daemon
        asked[args[0]] = lambda: target(args[0])
        return SimpleNamespace(start=lambda: None)

    monkeypatch.setattr(cluster_workers, "threading", SimpleNamespace(Thread=ask))
    client.join("hangs", answer=("slow", "CPU"))
    client.join("goes")
    client.workers["own"] = {"resources": {"place": 1}}  # Dask's own command may name none
    client.answers["own"] = GalleryError("no GPU found")
    for _ in range(2):
        assert not workers.update()
    assert asked.keys() == {"hangs", "goes", "own"}
    asked["own"]()
    del client.workers["goes"]
    asked["goes"]()
    client.clock.sleep(20)
    assert not workers.update()
    assert said.getvalue() == "note: worker own is refused: no GPU found\n"
    client.clock.sleep(1)
    assert not workers.update()
    assert not workers.update()
    assert said.getvalue().splitlines()[1:] == ["note: worker name of hangs does not answer"]
    workers.require(until=22)  # it may still
    with pytest.raises(GalleryError, match="no worker fits: own: no GPU found"):
        workers.require(until=21)
    asked["hangs"]()
    assert workers.update()
    assert workers.fit == {"hangs": ("slow", "CPU")}


def test_one_that_answers_is_waited_for_and_one_that_does_not_bounds_it(
    client: FakeClient, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_workers, "threading", threading)
    goes_on = threading.Event()
    client.join("hangs", answer=lambda: goes_on.wait(60))
    assert not workers.update(seconds=0.01)
    client.join("other")
    while not workers.update(seconds=0.01):
        pass
    goes_on.set()
