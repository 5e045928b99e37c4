"""A Swin block on images of any size: padded, masked, cut into shifted windows, put together."""

import re

from onnx_scatterx import inspect
from tests.helpers.support import assert_sound, parse, sample

SIDES = {"a": ("first", "minus4"), "b": ("minus4", "minus2"), "c": ("minus2", "end")}


def _region(mask: str, name: str, rows: str, columns: str, number: int) -> str:
    """Return lines that write a number into a region of a mask, as TorchScript exports them."""
    (low, high), (left, right) = SIDES[rows], SIDES[columns]
    return f"""{name}h = Squeeze (hp)
    {name}w = Squeeze (wp)
    {name}r = Range (zero, {name}h, one)
    {name}c = Range (zero, {name}w, one)
    {name}i = Slice ({name}r, {low}, {high}, first)
    {name}j = Slice ({name}c, {left}, {right}, first)
    {name}k = Unsqueeze ({name}i, last)
    {name}n = Mul ({name}k, zero)
    {name}m = Mul ({name}j, zero)
    {name}p = Add ({name}k, {name}m)
    {name}q = Add ({name}n, {name}j)
    {name}o = Mul ({name}p, zero)
    {name}x = Unsqueeze ({name}o, last)
    {name}y = Unsqueeze ({name}p, last)
    {name}z = Unsqueeze ({name}q, last)
    {name}at = Concat <axis = -1> ({name}x, {name}y, {name}z)
    {name}s = Shape ({name}p)
    {name}t = Concat <axis = 0> ({name}s, single)
    {name}v = Constant <value = float {{{number}}}> ()
    {name}u = Expand ({name}v, {name}t)
    {name} = ScatterND ({mask}, {name}at, {name}u)"""


def _model() -> str:
    regions, mask = [], "m"
    for number, (rows, columns) in enumerate((r, c) for r in SIDES for c in SIDES):
        regions.append(_region(mask, name := f"{rows}{columns}", rows, columns, number))
        mask = name
    lines = "\n    ".join(regions)
    return f"""g (float[B,H,W,2] x) => (float[B,h,w,2] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64[1] first = {{0}}, int64[1] single = {{1}},
     int64[1] last = {{-1}}, int64[1] four = {{4}}, int64[1] two = {{2}}, int64[1] minus4 = {{-4}},
     int64[1] minus2 = {{-2}}, int64[1] end = {{9223372036854775807}}, float nothing = {{0}},
     int64[2] zeros = {{0, 0}}, int64[2] sides = {{1, 2}}> {{
    b = Shape <start = 0, end = 1> (x)
    h = Shape <start = 1, end = 2> (x)
    w = Shape <start = 2, end = 3> (x)
    hr = Mod (h, four)
    hd = Sub (four, hr)
    ha = Mod (hd, four)
    wr = Mod (w, four)
    wd = Sub (four, wr)
    wa = Mod (wd, four)
    pads = Concat <axis = 0> (first, first, first, first, first, ha, wa, first)
    xp = Pad (x, pads, nothing)
    hp = Shape <start = 1, end = 2> (xp)
    wp = Shape <start = 2, end = 3> (xp)
    ms = Concat <axis = 0> (single, hp, wp, single)
    m = Expand (nothing, ms)
    {lines}
    nh = Div (hp, four)
    nw = Div (wp, four)
    cut = Concat <axis = 0> (b, nh, four, nw, four, two)
    y0 = Add (xp, {mask})
    y1 = Reshape (y0, cut)
    y2 = Transpose <perm = [0, 1, 3, 2, 4, 5]> (y1)
    flat = Concat <axis = 0> (last, four, four, two)
    y3 = Reshape (y2, flat)
    y4 = Relu (y3)
    count = Shape <start = 0, end = 1> (y4)
    all = Mul (nh, nw)
    each = Div (count, all)
    windows = Concat <axis = 0> (each, nh, nw, four, four, last)
    y5 = Reshape (y4, windows)
    y6 = Transpose <perm = [0, 1, 3, 2, 4, 5]> (y5)
    image = Concat <axis = 0> (each, hp, wp, last)
    y7 = Reshape (y6, image)
    sizes = Concat <axis = 0> (h, w)
    y = Slice (y7, zeros, sizes, sides) }}"""


MODEL = _model()


def test_all_regions_of_the_mask() -> None:
    sizes = [(1, 4, 4), (2, 5, 7), (1, 8, 3), (1, 1, 13)]
    assert_sound(MODEL, *({"x": sample("float32", *s, 2)} for s in sizes), left=0)


def test_a_size_in_the_report_is_short() -> None:
    report = inspect(parse(MODEL), target="standard")
    assert len(report.scatters) == 9
    assert max(len(s.footprint) for s in report.scatters) <= 300


def test_two_blocks_after_each_other() -> None:
    """The sizes of the second are those of the first, padded, cut and put together."""
    _, body = MODEL.split("{\n    b = Shape", 1)
    body = "b = Shape" + body.rstrip(" }")
    head = MODEL[: MODEL.index("b = Shape")].replace("(float[B,h,w,2] y)", "(float[b,h,w,2] out)")
    names = {line.split(" = ")[0].strip() for line in body.splitlines()}
    given = {"zero", "one", "first", "single", "last", "four", "two", "minus4", "minus2", "end"}
    again = body
    for name in sorted(names - given, key=len, reverse=True):
        again = _renamed(again, name, f"{name}_2")
    again = _renamed(again, "x", "y")
    model = head + body + "\n" + again + "\n    out = Identity (y_2) }"
    feeds = ({"x": sample("float32", *s, 2)} for s in [(1, 4, 4), (2, 5, 7)])
    assert_sound(model, *feeds, left=0)


def _renamed(text: str, name: str, other: str) -> str:
    return re.sub(rf"(?<![\w.]){name}(?!\w)(?! = \[)(?! = \d)", other, text)
