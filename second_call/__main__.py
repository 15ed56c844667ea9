"""``python -m second_call``: bring ``TRANSLATING.md`` up to date."""

from pathlib import Path

from .translators.guide import write_guide

if write_guide(Path()):
    print("updated TRANSLATING.md")
