"""Write the rows that recordings and their replicates publish as JSON files, for a schema to check.

`make lint` calls it: ``published_rows.py RECORDINGS FOLDER``. Nothing is left out and nothing is
checked here, so that the schema sees what was published. What publishes nothing is an empty object.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MIME = "application/vnd.recipe-gallery.rows+json"


def find_published(recordings: Path) -> Iterator[tuple[str, Any]]:
    """Yield a name for each display and each replicate, and what was published there."""
    for path in sorted(recordings.rglob("*.ipynb")):
        if any(part.startswith(".") for part in path.relative_to(recordings).parts):
            continue  # such as .ipynb_checkpoints
        name = path.relative_to(recordings).with_suffix("").as_posix().replace("/", ".")
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        displays = [
            (f"{name}.cell-{number}", output["data"][MIME])
            for number, cell in enumerate(cells, 1)
            for output in cell.get("outputs", [])
            if MIME in output.get("data", {})
        ]
        yield from displays or [(name, {})]
        replicates = path.with_suffix(".jsonl")
        lines = replicates.read_text(encoding="utf-8").splitlines() if replicates.exists() else []
        for number, line in enumerate(lines, 1):
            value = json.loads(line)
            yield f"{name}.line-{number}", {key: value.get(key) for key in ("rows", "claims")}


def main(recordings: Path, folder: Path) -> None:
    """Write each of them into a file of ``folder``, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, (name, value) in enumerate(find_published(recordings), 1):
        # a number that is no JSON, such as NaN, is an error here
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        (folder / f"{number:03}-{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
