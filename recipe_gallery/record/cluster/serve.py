"""Workers for a scheduler elsewhere: `recipe-gallery record-worker`."""

import asyncio
import contextlib
import secrets
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from distributed import Nanny

from ...errors import GalleryError
from ...project import Project
from .. import storage
from ..machine.host import require_open_files
from ..progress import Progress
from ..run.interruption import end_as_ctrl_c_does
from ..run.remains import remove_leftovers, run_folder
from ..session import alone_on
from .local import CONNECT, LOCAL, describe_worker, no_scheduler, set_up
from .places import Place, find_places

_CLOSE = 10  # seconds in which workers should end before they are killed


def serve(project: Project, scheduler: str, device: str, workers: int | None) -> None:
    """Run a worker at each place of this machine until the scheduler ends or this is interrupted.

    Raises ``GalleryError`` when the scheduler has ended, or does not answer.
    """
    progress = Progress(sys.stderr)
    with contextlib.ExitStack() as held:
        held.enter_context(end_as_ctrl_c_does())
        storage.require_room()
        require_open_files()
        if left := remove_leftovers():
            progress.say(left)
        places = find_places(device, workers)
        for place in places:
            if place.gpu:
                held.enter_context(alone_on(place.gpu))
        folder = held.enter_context(run_folder())
        held.enter_context(set_up(folder))
        asyncio.run(_serve(scheduler, places, project.root.resolve(), folder, progress))


async def _serve(
    address: str, places: Sequence[Place], root: Path, folder: Path, progress: Progress
) -> None:
    host = address.partition("://")[2]
    own = {"host": LOCAL} if host.startswith((LOCAL, "localhost")) else {}
    name = f"{socket.gethostname()}-{secrets.token_hex(2)}"
    nannies: list[Nanny] = []
    try:
        for place in places:
            options = describe_worker(place, root, folder, f"{name}-{place.name}") | own
            options |= {"dashboard_address": f"{LOCAL}:0", "death_timeout": CONNECT}
            nannies.append(Nanny(address, **options))
        await asyncio.gather(*nannies)
        count = f"{len(nannies)} worker" + "s" * (len(nannies) > 1)
        progress.say(f"{count} for {address}, until it ends or Ctrl-C")
        await asyncio.gather(*(each.finished() for each in nannies))
    except (OSError, TimeoutError, RuntimeError, ValueError) as error:
        raise no_scheduler(address, error) from None
    finally:
        await asyncio.gather(
            *(each.close(timeout=_CLOSE) for each in nannies), return_exceptions=True
        )
    text = f"the scheduler at {address} has ended"
    raise GalleryError(text, remedy="start it again, then this command")
