"""The layout of graphs: boxes do not overlap, arrows lead downwards, and it is always the same."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.tell.page.layout import layout

SIZES = st.lists(st.tuples(st.integers(10, 150), st.integers(10, 40)), min_size=1, max_size=30)


@given(SIZES, st.data())
def test_boxes_stand_apart_and_arrows_lead_down(
    sizes: list[tuple[int, int]], data: st.DataObject
) -> None:
    pairs = list(combinations(range(len(sizes)), 2))
    arrows = data.draw(st.lists(st.sampled_from(pairs), max_size=60, unique=True)) if pairs else []
    shuffled = data.draw(st.permutations(range(len(sizes))))
    arrows = [(shuffled[a], shuffled[b]) for a, b in arrows]
    found = layout(sizes, arrows)
    assert found == layout(sizes, arrows)
    boxes = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
        for (x, y), (w, h) in zip(found.centres, sizes, strict=True)
    ]
    for a, b in combinations(boxes, 2):
        assert a[2] < b[0] + 2 or b[2] < a[0] + 2 or a[3] < b[1] or b[3] < a[1]
    for left, top, right, bottom in boxes:
        assert left >= -1
        assert top >= -1
        assert right <= found.width + 1
        assert bottom <= found.height + 1
    for (start, end), path in zip(arrows, found.paths, strict=True):
        assert found.centres[start][1] < found.centres[end][1]
        heights = [y for _, y in path]
        assert heights == sorted(heights)
        assert (path[0][0], path[-1][0]) == (found.centres[start][0], found.centres[end][0])


def test_a_chain_is_straight() -> None:
    found = layout([(40, 20)] * 4, [(0, 1), (1, 2), (2, 3)])
    assert {x for x, _ in found.centres} == {20}


def test_arrows_cross_as_little_as_they_can() -> None:
    found = layout([(40, 20)] * 6, [(0, 5), (1, 4), (2, 3)])
    pairs = ((0, 5), (1, 4), (2, 3))
    tops, ends = ([found.centres[pair[i]][0] for pair in pairs] for i in (0, 1))
    assert sorted(tops) == sorted(ends)
    assert all(
        (a < b) == (c < d) for (a, c), (b, d) in combinations(zip(tops, ends, strict=True), 2)
    )


def test_nothing() -> None:
    assert layout([], []).width == 0
