"""``python -m second_call``: bring ``TRANSLATING.md`` up to date."""

from pathlib import Path

from .translators.guide import write_guide

write_guide(Path())
