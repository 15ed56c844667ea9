"""README names everything at the top level."""

import subprocess

from gallery import ROOT


def test_everything_at_the_top_level_is_on_the_map() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    names = {path.partition("/")[0] for path in tracked.stdout.splitlines()}
    assert names, "this test needs a checkout of git"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [name for name in names if f"`{name}" not in readme]
    assert not missing, f"README.md says nothing of {missing}"
