"""YAML of a stranger: plain data with lines, and nothing that runs, explodes or hangs."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from perfmodel import located_yaml
from perfmodel.errors import DataError
from perfmodel.located_yaml import Document, read_file, read_text

TEXT = """\
# a comment
first: 1

group:
  text: "two words"
  list:
    - a
    - {b: 2.5,
       c: null}
flow: [true, no,
  2024-01-02]
"""


def test_data_and_lines() -> None:
    document = read_text(TEXT, origin="some.yaml")
    assert document.data == {
        "first": 1,
        "group": {"text": "two words", "list": ["a", {"b": 2.5, "c": None}]},
        "flow": [True, False, "2024-01-02"],
    }
    lines = {
        (): 2,
        ("first",): 2,
        ("group",): 4,
        ("group", "text"): 5,
        ("group", "list"): 6,
        ("group", "list", 0): 7,
        ("group", "list", 1): 8,
        ("group", "list", 1, "b"): 8,
        ("group", "list", 1, "c"): 9,
        ("flow",): 10,
        ("flow", 0): 10,
        ("flow", 1): 10,
        ("flow", 2): 11,
    }
    assert document.lines == lines
    assert document.place(("group", "text")) == "some.yaml:5"
    assert document.place(("group", "missing", "deeper")) == "some.yaml:4"
    assert document.place(("nowhere",)) == "some.yaml:2"


def test_a_place_without_any_line_is_the_first() -> None:
    assert Document(origin="x", data={}, lines={}).place(("a",)) == "x:1"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0x10", 16),
        ("1_000", 1000),
        ("-2.5e+3", -2500.0),
        ("~", None),
        ("", None),
        ("'5'", "5"),
        ("2 GB/s", "2 GB/s"),
        ("32", 32),
        ("true", True),
        ("é", "é"),
        ("!!str 5", "5"),
        ("{}", {}),
        ("[]", []),
    ],
)
def test_plain_values(text: str, value: Any) -> None:
    read = read_text(f"key: {text}", origin="x").data["key"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a stands twice: keep one of the two"),
        ("a:\n  b: 1\n  b: 2\n", 3, "b stands twice"),
        ("a: &x [1]\nb: *x\n", 2, r"aliases \(\*name\) are not allowed"),
        ("a: &x 5\nb: *x\n", 2, "aliases"),
        ("a: &x [1]\nb:\n  - 1\n  - *x\n", 2, "aliases"),
        ("a: &x {k: 1}\nb:\n  <<: *x\n", 3, "a key must be plain text"),
        ("a: !!python/object:os.system {}\n", 1, "the tag .*python/object.* is not allowed"),
        ("a: 1\nb: !!python/object/apply:os.system ['true']\n", 2, "is not allowed"),
        ("a: !!python/name:os.system\n", 1, "is not allowed"),
        ("a: !!binary aGk=\n", 1, "is not allowed"),
        ("a: !!set {x, y}\n", 1, "is not allowed"),
        ("a: !!omap [x: 1]\n", 1, "is not allowed"),
        ("a: !own 5\n", 1, "the tag !own is not allowed"),
        ("!!python/object:x.Y\na: 1\n", 1, "is not allowed"),
        ("a: !!int five\n", 1, "not a value"),
        ("a: !!float many\n", 1, "not a value"),
        ("? [1, 2]\n: 3\n", 1, "a key must be plain text"),
        ("? {a: 1}\n: 3\n", 1, "a key must be plain text"),
        ("a: " + "9" * 41 + "\n", 1, "a number of that many digits"),
        ("a: 1\nb: [1, 2\n", 3, "not valid YAML"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a: 'open\n", 2, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "not valid YAML"),
        ("- 1\n- 2\n", 1, "a mapping is wanted"),
        ("just text\n", 1, "a mapping is wanted"),
        ("", 1, "a mapping is wanted"),
        ("# nothing\n", 1, "a mapping is wanted"),
    ],
)
def test_what_is_refused_with_its_line(text: str, line: int, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_text(text, origin="file.yaml")
    assert str(caught.value).startswith(f"file.yaml:{line}: ")
    assert "\n" not in str(caught.value)


def test_nothing_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for text in (
        f"a: !!python/object/apply:os.system ['touch {mark}']",
        f"a: !!python/object/new:pathlib.Path.touch [{mark}]",
        f"!!python/object/apply:os.mkdir ['{mark}']",
    ):
        with pytest.raises(DataError):
            read_text(text, origin="x")
    assert not mark.exists()


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    started = time.perf_counter()
    with pytest.raises(DataError, match="aliases"):
        read_text("\n".join(lines), origin="bomb.yaml")
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: &x {b: *x}"])
def test_a_value_that_holds_itself_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="aliases"):
        read_text(text, origin="x")


@pytest.mark.parametrize(
    "text",
    ["a: " + "[" * 100_000, "a: " + "[" * 20_000 + "]" * 20_000, "a: " + "{b: " * 20_000],
    ids=["open brackets", "brackets", "braces"],
)
def test_deep_nesting_ends_in_an_error_quickly(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(DataError, match=r"nested|not valid YAML"):
        read_text(text, origin="deep.yaml")
    assert time.perf_counter() - started < 2


def test_nesting_has_a_limit() -> None:
    deepest = located_yaml.DEEPEST_NESTING
    fits = "a: " + "[" * (deepest - 1) + "]" * (deepest - 1)
    assert read_text(fits, origin="x").data
    with pytest.raises(DataError, match=f"nested deeper than {deepest} levels"):
        read_text("a: " + "[" * deepest + "]" * deepest, origin="x")


class TestFiles:
    """What a path may lead to."""

    def written(self, folder: Path, content: bytes) -> Path:
        path = folder / "some.yaml"
        path.write_bytes(content)
        return path

    def test_a_file(self, tmp_path: Path) -> None:
        document = read_file(self.written(tmp_path, TEXT.encode()))
        assert document.data["first"] == 1
        assert document.place(("first",)) == f"{tmp_path / 'some.yaml'}:2"

    def test_a_byte_order_mark_is_no_text(self, tmp_path: Path) -> None:
        assert read_file(self.written(tmp_path, b"\xef\xbb\xbfa: 1\n")).data == {"a": 1}

    def test_lines_end_as_on_any_system(self, tmp_path: Path) -> None:
        document = read_file(self.written(tmp_path, b"a: 1\r\nb: 2\r\n"))
        assert document.data == {"a": 1, "b": 2}
        assert document.lines[("b",)] == 2

    @pytest.mark.parametrize("content", [b"a: 1\nb: \xff\n", b"a: 1\nb: caf\xe9\n"])
    def test_not_utf_8(self, tmp_path: Path, content: bytes) -> None:
        with pytest.raises(DataError, match=r"some\.yaml:2: not UTF-8: save the file as UTF-8"):
            read_file(self.written(tmp_path, content))

    def test_utf_16(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="not UTF-8"):
            read_file(self.written(tmp_path, "a: 1\n".encode("utf-16")))

    def test_control_characters(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="not valid YAML") as caught:
            read_file(self.written(tmp_path, b"a: \x00\x07\n"))
        assert "\n" not in str(caught.value)

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"none\.yaml: cannot be read: No such file"):
            read_file(tmp_path / "none.yaml")

    def test_a_directory(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="cannot be read: Is a directory"):
            read_file(tmp_path)

    def test_a_path_that_no_system_takes(self) -> None:
        with pytest.raises(DataError, match="cannot be read"):
            read_file(Path("x" * 5000))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_a_file_that_may_not_be_read(self, tmp_path: Path) -> None:
        path = self.written(tmp_path, b"a: 1\n")
        path.chmod(0)
        with pytest.raises(DataError, match="cannot be read: Permission denied"):
            read_file(path)

    def test_a_huge_file_is_not_read_to_its_end(self, tmp_path: Path) -> None:
        path = tmp_path / "huge.yaml"
        with path.open("wb") as stream:
            stream.write(b"a: 1\n")
            stream.truncate(100_000_000)  # sparse: takes no room
        started = time.perf_counter()
        with pytest.raises(DataError, match="larger than 1048576 bytes"):
            read_file(path)
        assert time.perf_counter() - started < 0.5

    def test_a_file_at_the_limit_is_read(self, tmp_path: Path) -> None:
        content = b"a: 1\n#"
        content += b"x" * (located_yaml.LARGEST_FILE_BYTES - len(content))
        assert read_file(self.written(tmp_path, content)).data == {"a": 1}
        with pytest.raises(DataError, match="larger than"):
            read_file(self.written(tmp_path, content + b"x"))


def test_the_slower_parser_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML is built without its C library."""
    import yaml

    expected = read_text(TEXT, origin="x")
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert read_text(TEXT, origin="x") == expected
    for text in ("a: [1, 2\n", "a: " + "[" * 3000, "a: &x [1]\nb: *x\n", "a: 1\na: 2\n"):
        with pytest.raises(DataError):
            read_text(text, origin="x")
