"""What benchmarks begin and end with: a folder for downloads, and the page with the results."""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder(description: str | None) -> Iterator[Path]:
    """Read the command line, and give the folder that it names, or else a temporary one."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--folder", type=Path, help="kept afterwards; a temporary one if none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        yield folder.resolve()


def write_report(benchmark: Path, lines: Sequence[str]) -> None:
    """Replace what stands from the first table on in the page beside a benchmark."""
    page = benchmark.with_suffix(".md")
    head = page.read_text(encoding="utf-8").partition("\n| ")[0]
    page.write_text("\n".join([head.rstrip(), "", *lines, ""]), encoding="utf-8")
