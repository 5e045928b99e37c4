"""What a notebook shows: parts of pages, and drawings."""

import numpy as np

import onnx_scatterx
from onnx_scatterx.theory import Pick, XTransformer, picture
from tests.helpers.html import Page
from tests.helpers.many_scatters import many_scatters
from tests.helpers.support import parse

BOX, KV_CACHE = "models/box_update_dynamo.onnx", "models/kv_cache_dynamo.onnx"
OPS = ("Neg", "Abs")


def test_reports_and_results() -> None:
    pages = []
    for model in (BOX, KV_CACHE, many_scatters(2)):
        result = onnx_scatterx.optimize(model)
        text = result._repr_html_()
        assert "<html" not in text
        assert "<script" not in text
        pages.append(Page(text))
        pages[-1].check()
        assert result.report.summary().replace("->", "→") in pages[-1].said
    # A notebook shows several: no id is that of another.
    ids = [name for page in pages for name in page.ids]
    assert len(ids) == len(set(ids))
    assert "2 of 2 scatters can be" in Page(onnx_scatterx.inspect(BOX)._repr_html_()).said


def test_verifications() -> None:
    same = onnx_scatterx.verify(BOX, BOX, samples=2)
    page = Page(same._repr_html_())
    page.check()
    assert "the same, bit for bit, on 2 sets of inputs" in page.said
    assert "fine" in page.classes
    before, after = (parse(f"g (float[2] x) => (float[2] y) {{ y = {op} (x) }}") for op in OPS)
    other = onnx_scatterx.verify(before, after, samples=2)
    page = Page(other._repr_html_())
    assert "alarm" in page.classes
    assert "output 'y' differs" in page.said


def test_benchmarks() -> None:
    found = onnx_scatterx.bench([BOX, onnx_scatterx.optimize(BOX).model], rounds=6)
    page = Page(found._repr_html_())
    page.check()
    assert "times as fast" in page.said
    assert "ONNX Runtime" in page.said
    rows = found._time_rows()
    assert rows[1][3] in page.said
    assert str(found).count(rows[1][1]) >= 1


def test_drawings() -> None:
    f = np.array([[3], [1]])
    rows = XTransformer((2, 2), (4, 2), f, Pick((0,)), Pick((1,)), Pick.identity(2))
    drawing = picture(rows)
    assert drawing._repr_svg_() == drawing
    assert type(drawing._repr_svg_()) is str
    assert drawing.startswith("<svg")
