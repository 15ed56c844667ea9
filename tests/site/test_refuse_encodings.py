"""`make record` tells of a recipe that is not UTF-8 before its linter, which names no line."""

from pathlib import Path

from second_call.refuse_encodings import find_wrong_bytes


def test_the_wrong_byte_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("# café\n", encoding="utf-8")
    path = tmp_path / "mine.py"
    path.write_bytes(b"x = 1\n# caf\xe9\n")
    told = f"{path}:2: byte 0xe9 is not valid UTF-8; save the file in UTF-8"
    assert [str(error) for error in find_wrong_bytes(tmp_path)] == [told]
