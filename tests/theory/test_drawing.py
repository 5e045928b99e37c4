"""Drawings: every update is where the transformer sends it, and nothing hides anything."""

import itertools
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given

from onnx_scatterx.theory import (
    Gathering,
    Impossibility,
    Pick,
    Scattering,
    XTransformer,
    disjoint_representation,
    picture,
)
from onnx_scatterx.theory.components import Lookup
from onnx_scatterx.theory.drawing import COLOURS, INK, PLAIN, TEXT, WITNESS, PixelGrid, formula
from tests.helpers.examples import examples
from tests.theory.paper.draws import Index, shapes, x_transformers

SVG = "{http://www.w3.org/2000/svg}"
fast = examples(60)


def panels(picture: str) -> list[dict[tuple[int, int], tuple[str, str, str]]]:
    """Of updates and data: at the corner of each cell its text, its fill and its stroke."""
    found = []
    for panel in ElementTree.fromstring(picture).iterfind(f"{SVG}g/{SVG}g"):
        cells: dict[tuple[int, int], tuple[str, str, str]] = {}
        group = panel.find(f"{SVG}g")
        assert group is not None
        items = list(group)
        for item, following in itertools.zip_longest(items, items[1:]):
            if item.tag == f"{SVG}rect":
                inside = following is not None and following.get("fill") == TEXT
                text = (following.text or "") if inside else ""
                corner = int(item.attrib["x"]), int(item.attrib["y"])
                assert corner not in cells
                cells[corner] = text, item.attrib["fill"], item.attrib["stroke"]
        found.append(cells)
    return found


@given(x_transformers())
@fast
def test_every_update_is_where_it_goes(t: XTransformer) -> None:
    updates, data = panels(picture(t))
    form = disjoint_representation(t)
    names = {i: "".join(map(str, i)) or "()" for i in np.ndindex(*t.shape)}
    assert sorted(text for text, _, _ in updates.values()) == sorted(names.values())
    arriving: dict[Index, list[str]] = {}
    for i, name in names.items():
        arriving.setdefault(t(i), []).append(name)
    expected = [
        f"{come[-1]} +{len(come) - 1}" if come[1:] else come[-1] for come in arriving.values()
    ]
    drawn = sorted(data.items(), key=lambda cell: cell[0])
    assert sorted(text for _, (text, _, _) in drawn if text) == sorted(expected)
    assert len(data) == 2 ** len(t.data_shape)
    fills = {text: fill for text, fill, _ in updates.values()}
    for text, fill, _ in data.values():
        assert fill == (fills[text.split(" +")[0]] if text else "none")
    outlined = {stroke for cells in (updates, data) for _, _, stroke in cells.values()}
    if isinstance(form, Impossibility):
        assert set(fills.values()) <= {PLAIN}
    else:
        assert set(fills.values()) <= set(COLOURS)
        assert outlined <= {INK}


@given(x_transformers())
@fast
def test_each_cell_is_at_its_index(t: XTransformer) -> None:
    """The corners are those of the grid, which knows only the shape."""
    _, data = panels(picture(t))
    letters = max((len(text) for text, _, _ in data.values()), default=1)
    grid = PixelGrid(t.data_shape, max(28, 8 * letters + 8), 28)
    for i in np.ndindex(*t.shape):
        text, _, _ = data[grid.cell(t(i))]
        last = [j for j in np.ndindex(*t.shape) if t(j) == t(i)][-1]
        assert text.split(" +")[0] == ("".join(map(str, last)) or "()")


@given(shapes(most=6, largest=3))
@fast
def test_cells_do_not_overlap(shape: Index) -> None:
    grid = PixelGrid(shape, 30, 20)
    corners = np.array([grid.cell(i) for i in np.ndindex(*shape)]).reshape(-1, 2)
    assert len({tuple(c) for c in corners.tolist()}) == len(corners)
    # Equal cells on whole rows and columns: two overlap if both distances are short.
    apart = np.abs(corners[:, None] - corners[None])
    overlap = (apart[..., 0] < 30) & (apart[..., 1] < 20)
    assert (overlap == np.eye(len(corners), dtype=bool)).all()
    if len(corners):
        assert corners.min() > 0
        assert corners[:, 0].max() + 30 == grid.width
        assert corners[:, 1].max() + 20 == grid.height


@given(x_transformers())
@fast
def test_a_read_shows_where_each_element_comes_from(t: XTransformer) -> None:
    read = Gathering(np.zeros(t.data_shape), t)
    data, output = panels(picture(read))
    names = {j: "".join(map(str, j)) or "()" for j in np.ndindex(*t.data_shape)}
    drawn = [text for _, (text, _, _) in sorted(output.items(), key=lambda cell: cell[0][::-1])]
    assert sorted(drawn) == sorted(names[t(i)] for i in np.ndindex(*t.shape))
    assert {text for text, _, _ in data.values() if text} == set(drawn)
    assert len(data) == 2 ** len(t.data_shape)
    svg = str(picture(read))
    assert ">output (" in svg
    assert "update" not in svg
    assert "output[I] = data[T(I)]" in svg


def test_a_scattering_is_drawn_as_its_transformer() -> None:
    t = XTransformer.from_provision(np.array([[2], [0]]), (3,))
    write = Scattering(np.zeros(3), np.ones(2), t)
    assert picture(write) == picture(t)
    adds = picture(Scattering(np.zeros(3), np.ones(2), t, "add"))  # type: ignore[arg-type]
    assert ">not sliceable, reduction add<" in adds


def test_slices_have_one_colour_each() -> None:
    where = np.array([[3], [1]])
    rows = XTransformer((2, 3), (4, 3), where, Pick((0,)), Pick((1,)), Pick((0, 1)))
    updates, data = panels(picture(rows))
    for cells in (updates, data):
        assert {(text[0], fill) for text, fill, _ in cells.values() if text} == {
            ("0", COLOURS[0]),
            ("1", COLOURS[1]),
        }


def test_the_witness_is_outlined() -> None:
    i, j = np.indices((2, 2))
    t = XTransformer.from_provision(np.stack([i, j, i ^ j], -1), (2, 2, 2))
    for cells in panels(picture(t)):
        assert {text for text, _, stroke in cells.values() if stroke == WITNESS} == {
            "00",
            "01",
            "10",
        }
        strokes = [stroke for _, _, stroke in cells.values()]
        assert strokes == sorted(strokes, key=WITNESS.__eq__)  # no neighbour covers an outline


def test_what_is_written_below() -> None:
    i, j = np.indices((12, 2))
    e = np.stack([i * 0 + 1, (i + 7) % 12, (2 * i + j) % 3], -1)
    svg = picture(XTransformer.from_provision(e, (2, 12, 3)))
    assert "T(I) = (1, (7 + I_0) mod 12, f(I_0, I_1))" in svg
    assert ">not sliceable<" in svg
    assert ">dim 1: no component is I_1, see update (1, 0)<" in svg
    assert ">10,1<" in svg  # commas where an extent is above 10


def test_formulas() -> None:
    e = np.array([[0, 1, 5, 0], [1, 3, 4, 1], [2, 5, 3, 0]])
    t = XTransformer.from_provision(e, (3, 6, 6, 2))
    assert [*map(formula, t.components)] == ["I_0", "1 + 2*I_0", "5 - I_0", "I_0 mod 2"]
    assert formula(Lookup((0, 2), np.zeros((2, 2)))) == "f(I_0, I_2)"


def test_nothing_to_draw() -> None:
    assert (
        picture(XTransformer.from_provision(np.zeros((0, 1), int), (0,))).count("no elements") == 2
    )
    ElementTree.fromstring(picture(XTransformer.from_provision(np.zeros(0, int), ())))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="1025 elements are too many for a picture, at most 1024"):
        picture(XTransformer.from_provision(np.zeros((1, 1), int), (1024,)))
    with pytest.raises(ValueError, match="out of bounds"):
        picture(XTransformer.from_provision(np.array([[7]]), (2,)))


@pytest.mark.parametrize("page", ["#ffffff", "#0d1117"])
def test_legible_on_light_and_dark_pages(page: str) -> None:
    """The contrasts that WCAG 2 asks of large text and of drawings, and of small text in cells."""
    assert contrast(INK, page) > 4.3
    assert contrast(WITNESS, page) > 3
    assert min(contrast(TEXT, fill) for fill in (*COLOURS, PLAIN)) > 7


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
