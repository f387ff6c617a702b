"""Files: the format by suffix, the same bytes each time, and nothing half-written."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from perfmodel.errors import UsageError
from perfmodel.plots import saving
from perfmodel.plots.saving import save
from perfmodel.plots.style import new_figure

BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def small_figure() -> Figure:
    figure = new_figure(2, 1)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1])
    axes.set_title("a title")
    return figure


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "PNG"])
def test_the_suffix_names_the_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plot.{suffix}"
    save(small_figure(), path)
    assert path.read_bytes().startswith(BEGINNINGS[suffix.lower()])
    assert names_in(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_figure_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for path in paths:
        save(small_figure(), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert b"Date" not in paths[0].read_bytes()


def test_a_pixel_format_has_150_dots_per_inch(tmp_path: Path) -> None:
    save(small_figure(), tmp_path / "plot.png")
    header = (tmp_path / "plot.png").read_bytes()[16:24]
    assert (int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")) == (300, 150)


@pytest.mark.parametrize("name", ["plot.jpg", "plot", "plot.png.txt", ".png"])
def test_another_suffix_is_refused_with_the_three(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf$"):
        save(small_figure(), tmp_path / name)
    assert names_in(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .*absent$"):
        save(small_figure(), tmp_path / "absent" / "plot.png")
    assert names_in(tmp_path) == []


def test_a_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "plot.png").mkdir()
    with pytest.raises(UsageError, match="it is a folder"):
        save(small_figure(), tmp_path / "plot.png")
    assert names_in(tmp_path) == ["plot.png"]


def test_a_file_in_place_of_a_folder_is_an_error_of_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="there is no folder"):
        save(small_figure(), tmp_path / "file" / "plot.png")


def test_what_the_system_refuses_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError) as caught:
        save(small_figure(), tmp_path / "plot.png")
    assert str(caught.value) == f"cannot write {tmp_path / 'plot.png'}: permission denied"


def test_a_name_too_long_is_an_error_of_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^cannot write .*too long"):
        save(small_figure(), tmp_path / f"{'x' * 300}.png")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    path = tmp_path / "plot.svg"
    path.write_text("the old one")

    def write_half(_: Figure, file: object, **__: object) -> None:
        file.write(b"<?xml")  # type: ignore[attr-defined]  # an open file
        raise error

    monkeypatch.setattr(Figure, "savefig", write_half)
    with pytest.raises((UsageError, KeyboardInterrupt)):
        save(small_figure(), path)
    assert names_in(tmp_path) == ["plot.svg"]
    assert path.read_text() == "the old one"


def test_a_file_is_replaced_and_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "plot.pdf"
    path.write_text("the old one")
    plain = tmp_path / "plain"
    plain.touch()
    save(small_figure(), path)
    assert path.read_bytes().startswith(b"%PDF")
    assert path.stat().st_mode == plain.stat().st_mode


def test_the_users_own_settings_change_nothing(tmp_path: Path) -> None:
    from matplotlib import rc_context

    save(small_figure(), tmp_path / "one.svg")
    with rc_context({"svg.hashsalt": "another", "savefig.facecolor": "black"}):
        save(small_figure(), tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_the_resolution_is_a_constant() -> None:
    assert saving.DPI == 150
