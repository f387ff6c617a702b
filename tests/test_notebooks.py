"""Every notebook runs from a fresh kernel, and is committed without outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def test_there_is_one() -> None:
    assert [path.name for path in NOTEBOOKS] == ["softmax_on_dcu.ipynb"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "committed with outputs: clear them"
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [
        output
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type in ("execute_result", "display_data")
    ]
    kinds = {kind for output in shown for kind in output.data}
    assert {"text/html", "image/png"} <= kinds


def test_a_device_shows_every_value_and_its_source() -> None:
    from perfmodel import load_device

    device = load_device("s5000")
    shown = device._repr_html_()
    frame = device.to_frame()
    assert shown.count("<tr title=") == len(frame) == len(device.quantities())
    assert frame.loc["dram_bandwidth", "unit"] == "bytes/s"
    assert "1.6 TB/s" in shown
