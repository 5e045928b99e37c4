"""What to do next: commands that remove a scatter; each of them was tried."""

import json
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

from onnx_scatterx import advise, explain, inspect, optimize, optimize_many, verify
from onnx_scatterx.doors.cli import main
from onnx_scatterx.observer import Progress
from onnx_scatterx.targets.catalogue import BASES, profile_names
from onnx_scatterx.tell import inquiry
from onnx_scatterx.tell.advice import again, search
from onnx_scatterx.tell.advice.change import Command
from onnx_scatterx.tell.reporting import optimize_ir
from onnx_scatterx.text.reasons import Reason
from tests.helpers.support import scatters
from tests.tell.advice.advised import EMPTY, HEAD, MODELS, ROWS

pytestmark = pytest.mark.sampled(2)

START = """g (float[8, 2] x, int64[1] at, float[1, 2] u) => (float[8, 2] y)
    <int64[1] last = {-1}> { i = Unsqueeze (at, last)  y = ScatterND (x, i, u) }"""
THREE = """g (float[8, 2] x, int64[3, 1] i, float[3, 2] u) => (float[8, 2] y)
    { y = ScatterND (x, i, u) }"""
TWICE = """g (float[8, 2] x, float[3, 2] u) => (float[8, 2] y)
    <int64[3, 1] i = {3, 5, 3}> { y = ScatterND (x, i, u) }"""


def advice(text: str, **arguments: Any) -> list[list[str]]:
    """Return the commands that are named, by the options that follow the target, and conditions."""
    found = advise(onnx.parser.parse_model(HEAD + text), **arguments)
    start = "onnx-scatterx optimize MODEL.onnx -o OUT.onnx "
    assert all(way.command.startswith(start) for a in found for way in a.ways)
    return [[way.command.removeprefix(start), way.condition] for a in found for way in a.ways]


DENSE = [
    "--target 'standard, dense = true'",
    "its largest tensor has 120000 elements (480 kB in float)",
]


@pytest.mark.parametrize(
    ("text", "target", "steps"),
    [
        (START, "scatterx", []),  # it becomes ScatterX, as the target asks
        (START, "standard", []),
        (THREE, "scatterx", []),
        (
            ROWS,
            "standard",
            [
                DENSE,
                [
                    "--target standard --assume 'at: contiguous, nonnegative'",
                    "only if each element of 'at' is the one before it plus 1 and no element of "
                    "'at' is negative, for every input: otherwise the result is wrong",
                ],
            ],
        ),
        (
            ROWS.replace("Unsqueeze (at", "Unsqueeze (b").replace("{ i", "{ b = Mul(at, at) i"),
            "standard",
            [DENSE],
        ),
        (TWICE, "standard", [["--target standard --deterministic", "the last update wins"]]),
        (
            ROWS.replace("ND (x", 'ND <reduction = "add"> (x'),
            "standard",
            [
                [
                    "--target 'standard, dense = true'",
                    "its largest tensor has 240800 elements (963 kB in float)",
                ]
            ],
        ),
        (
            EMPTY,
            "standard",
            [
                [
                    "--target standard --assume 'N >= 1'",
                    "only if N >= 1, for every input: otherwise the result is wrong",
                ]
            ],
        ),
        (TWICE.replace("ND (x", 'ND <reduction = "mul"> (x'), "standard", []),
    ],
)
def test_ways(text: str, target: str, steps: list[list[str]]) -> None:
    if target not in (*profile_names(), *BASES):
        pytest.skip(f"no profile {target}")
    assert advice(text, target=target) == steps


@pytest.mark.sampled(5, each="target")
@pytest.mark.parametrize("text", [START, THREE, ROWS, TWICE, EMPTY])
@pytest.mark.parametrize("target", ["scatterx", "standard", "qnn", "rknn, max_rank = 1"])
def test_every_command_does_what_it_says(
    text: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is printed is run as it stands: the scatters that it names are removed."""
    path, out = str(tmp_path / "my model.onnx"), str(tmp_path / "out.onnx")
    onnx.save(onnx.parser.parse_model(HEAD + text), path)
    command = Command(path, out, target)
    for found in advise(path, target=target, command=command):
        for way in found.ways:
            words = shlex.split(way.command)
            assert words[0] == "onnx-scatterx"
            assert main([*words[1:], "--verify", "--samples", "5"]) == 0
            assert not (found.nodes and scatters(onnx.load(out)))
    capsys.readouterr()


@pytest.mark.slow
def test_sizes_are_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a device whose compiler computes no sizes; the numbers are assumed or usual ones."""
    path, out = str(MODELS / "swin_shift_mask_dynamo_dynamic.onnx"), str(tmp_path / "out.onnx")
    profile = tmp_path / "npu.toml"
    profile.write_text('name = "npu"\nstatic_only = true\navoid = ["Shape", "Range", "ScatterND"]')
    command = Command(path, out, str(profile))
    (found,) = advise(path, target=str(profile), command=command)
    way = found.ways[0]
    assert way.command.endswith("--fix height=96 --fix width=64")
    assert way.condition == (
        "or with numbers of your own: height = axis 2 of image, width = axis 3 of image; "
        "height=192 width=128 were tried, too"
    )
    assert main([*shlex.split(way.command)[1:], "--verify", "--strict", "--samples", "3"]) == 0
    assert not scatters(onnx.load(out))
    path = str(MODELS / "yolox_head_dynamo_dynamic.onnx")
    (found,) = advise(path, target=str(profile), assume="height == 8", command=command)
    assert found.ways[0].command.endswith("--fix batch=1 --fix height=8 --fix width=64")
    (found,) = advise(path, target=str(profile), fix={"width": 32}, command=command)
    assert found.ways[0].command.endswith("--fix batch=1 --fix height=64")
    capsys.readouterr()


def test_a_key_that_was_given_is_not_given_again() -> None:
    model = onnx.parser.parse_model(HEAD + EMPTY)
    for found in advise(model, target="standard, max_rank = 1", assume="N >= 1"):
        assert all("max_rank" not in w.command.partition("max_rank")[2] for w in found.ways)


def profile(folder: Path, extends: str, *lacks: str) -> Path:
    """Return the path of a profile that lacks some operators of another one."""
    path = folder / "mine.toml"
    path.write_text(f"name = 'npu'\nextends = '{extends}'\nremove = {list(lacks)}")
    return path


def test_an_operator_that_is_missing(tmp_path: Path) -> None:
    """A product at known positions takes Mul, and nothing else that rknn lacks."""
    text = HEAD + TWICE.replace("ND (x", 'ND <reduction = "mul"> (x')
    target = profile(tmp_path, "rknn", "Mul")
    (found,) = advise(onnx.parser.parse_model(text), target=target)
    assert [way.condition for way in found.ways] == ["if your compiler has Mul"]
    printed = f'{target}, add = ["Mul"]'
    assert shlex.split(found.ways[0].command)[-1] == printed
    path = tmp_path / "one.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    with ThreadPoolExecutor(1) as threads:
        many = optimize_many([path], tmp_path / "out", executor=threads, advice=True, target=target)
    report = many.outcomes[0].report
    assert report is not None
    assert shlex.split(report.advice[0].ways[0].command)[-1] == printed


def test_a_promise_about_the_start_of_a_ring() -> None:
    """MNN reads indices from the end wrongly, and its Mod gives the remainder of C."""
    text = """g (float[2, 4, 8, 3] past, float[2, 4, 1, 3] new, int64[2] at)
        => (float[2, 4, 8, 3] y) {
        y = TensorScatter <mode = "circular", axis = 2> (past, new, at) }"""
    model = onnx.parser.parse_model('<ir_version: 11, opset_import: ["" : 24]>' + text)
    target = "mnn, remove = ['Max', 'Add']"  # by which positions are counted from the start
    (found,) = advise(model, target=target)
    promised = [way.command.partition("--assume ")[2] for way in found.ways]
    assert promised == ["'at: nonnegative, < 8'"]
    result = optimize(model, target=target, assume="at: nonnegative, < 8")
    assert result.report.removed == 1
    assert verify(model, result.model, samples=5).same
    for other in ("mnn", "qnn", "tract"):
        assert optimize(model, target=other).report.removed == 1


def test_a_dense_form_is_tried_if_an_operator_is_missing() -> None:
    """The sorted form needs GatherElements; the dense one compares all positions."""
    text = "g (float[400, 2] x, int64[300, 1] i, float[300, 2] u) => (float[400, 2] y) {"
    model = onnx.parser.parse_model(HEAD + text + "y = ScatterND (x, i, u) }")
    (found,) = advise(model, target="standard, remove = ['GatherElements']")
    assert [way.command[-15:] for way in found.ways] == [", dense = true'"]


LARGEST = f"""{HEAD}g (float[64, 48] x) => (float[64, 48] y)
    <int64[1] k = {{24}}, float[64, 24] u = {{{", ".join(["1"] * 64 * 24)}}}> {{
    m = Sub (x, x)  v, i = TopK <axis = -1> (x, k)
    y = ScatterElements <axis = -1> (m, i, u) }}"""


def test_a_dense_form_needs_other_operators(tmp_path: Path) -> None:
    """The sorted form needs a gather, and the dense one no operator that is missing."""
    target = profile(tmp_path, "qnn", "Gather", "GatherElements", "ScatterElements")
    model = onnx.parser.parse_model(LARGEST)
    (scatter,) = inspect(model, target=target).scatters
    assert scatter.reason is Reason.NOT_IN_TARGET
    (found,) = advise(model, target=target)
    dense, operators = (way.command for way in found.ways)
    assert dense.endswith(", dense = true'")
    assert operators.endswith("""add = ["GatherElements"]'""")
    for command in (dense, operators):
        assert inspect(model, target=shlex.split(command)[-1]).removed == 1


@pytest.mark.parametrize(
    "target",
    [
        "qnn, remove = ['Gather', 'GatherElements', 'ScatterElements']",
        "qnn,remove=['Gather', 'GatherElements', 'ScatterElements'],add=['Mod']",
    ],
)
def test_a_target_that_is_printed_is_the_one_that_was_tried(target: str) -> None:
    """The user removes an operator, or has a list of more: no printed target contradicts it."""
    model = onnx.parser.parse_model(LARGEST)
    (found,) = advise(model, target=target)
    (printed,) = (shlex.split(way.command)[-1] for way in found.ways)
    assert printed == f"{target}, dense = true"
    assert inspect(model, target=printed).removed == 1


def test_sizes_are_named_by_the_axes_of_the_inputs() -> None:
    """In this order: names of an exporter say nothing."""
    text = """g (float[batch, 3, s53, s0] x, float[batch, s7] u) => (float[batch, 3, s53, s0] y) {
        y = Relu (x)  v = Neg (u) }"""
    (found,) = advise(onnx.parser.parse_model(HEAD + text), target="qnn")
    (way,) = found.ways
    assert re.findall(r"--fix (\w+)=", way.command) == ["batch", "s53", "s0", "s7"]
    assert way.condition == (
        "or with numbers of your own: batch = axis 0 of x, s53 = axis 2 of x, s0 = axis 3 of x, "
        "s7 = axis 1 of u; batch=3 s53=129 s0=97 s7=65 were tried, too"
    )
    (line,) = inspect(onnx.parser.parse_model(HEAD + text), target="qnn").size_lines()
    assert line.endswith(f"for each N ({way.condition.partition(': ')[2].partition(';')[0]})")


@pytest.mark.parametrize(
    ("turn", "cheap", "told"),
    [
        (80, True, "N=65 was tried, too"),
        (64, True, "but with N=65 not all of it is removed"),
        (80, False, "no other numbers were tried"),
    ],
)
def test_other_numbers_than_the_printed_ones(
    turn: int, cheap: bool, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 64 begins again at 0 if a turn has 64 rows: then two updates collide."""
    text = f"""g (float[90, 4] x, float[N, 4] u) => (float[90, 4] y) {{
        s = Shape <start = 0, end = 1> (u)  n = Squeeze (s)
        zero = Constant <value_int = 0> ()  one = Constant <value_int = 1> ()
        turn = Constant <value_int = {turn}> ()  last = Constant <value_ints = [-1]> ()
        r = Range (zero, n, one)  m = Mod (r, turn)  i = Unsqueeze (m, last)
        y = ScatterND (x, i, u) }}"""
    if not cheap:
        monkeypatch.setattr(again, "_CHEAP", 0)
    (found,) = advise(onnx.parser.parse_model(HEAD + text), target="qnn")
    (way,) = found.ways
    assert way.command.endswith("--fix N=64")
    assert way.condition == f"or with numbers of your own: N = axis 0 of u; {told}"


def test_other_numbers_with_which_the_model_does_not_run() -> None:
    """As of TorchScript's `x[m] = 0`, in which a mask is broadcast to a size of the data."""
    text = "g (float[N] x, float[3, 4] u) => (float[3, 4] y) { y = Add (x, u) }"
    (found,) = advise(onnx.parser.parse_model(HEAD + text), target="qnn")
    (way,) = found.ways
    assert way.command.endswith("--fix N=4")
    told = "but the model does not run with N=5 or N=8 or N=2"
    assert way.condition == f"or with numbers of your own: N = axis 0 of x; {told}"


def test_a_scatter_that_the_target_takes_is_nothing_to_do() -> None:
    """Its advice says so, and has the command; `explain` prints it, too."""
    model = onnx.parser.parse_model(HEAD + ROWS)
    for takes, change in (True, "max_rank = 8"), (False, "avoid = ['ScatterND', 'TopK']"):
        target = f"standard, {change}"
        (found,) = advise(model, target=target)
        assert (found.is_taken, found.has_action) == (takes, not takes)
        assert found.ways
        assert ("and the target takes it" in found.lines()[0]) == takes
        assert found.ways[0].command in explain(model, target=target)


def test_the_limit_of_dense_forms() -> None:
    """It is 16 million elements: a form of more is no command to paste, and its price is said."""
    text = """g (float[30000, 2] x, int64[20000, 1] i, float[20000, 2] u) => (float[30000, 2] y) {
        y = ScatterND <reduction = "max"> (x, i, u) }"""
    for target in ("standard, dense = true", "standard"):
        (found,) = advise(onnx.parser.parse_model(HEAD + text), target=target)
        assert not found.ways
        assert not found.has_action
        assert found.too_large[0].command.endswith(", dense_limit = inf'")
        assert found.lines()[1:] == [
            "  only a dense form above the limit of the target removes it: its largest tensor has "
            "1200060000 elements (4.80 GB in float)",
            "  keep it on the host, or use fewer positions or updates",
        ]


def test_a_dense_form_that_no_compiler_holds() -> None:
    """5 billion elements are not proposed, however TopK is limited."""
    text = """g (float[100000, 2] x, int64[50000, 1] i, float[50000, 2] u) => (float[100000, 2] y) {
        y = ScatterND (x, i, u) }"""
    target = "tensorrt, remove = ['ScatterND']"
    (found,) = advise(onnx.parser.parse_model(HEAD + text), target=target)
    assert not found.ways
    assert "TopK of more than 3839 elements" in found.why


def two_indices(size: str, count: int) -> onnx.ModelProto:
    """Return x[a, b] = u: an index that may be negative takes an operator, whichever of them."""
    inputs, outputs, nodes = [], [], []
    for n in range(count):
        inputs += [f"float[40, {size}] x{n}, int64[3] a{n}, int64[3] b{n}, float[3] u{n}"]
        outputs += [f"float[40, {size}] y{n}"]
        nodes += [
            f"c{n} = Unsqueeze (a{n}, last)  d{n} = Unsqueeze (b{n}, last)"
            f" i{n} = Concat <axis = -1> (c{n}, d{n})  y{n} = ScatterND (x{n}, i{n}, u{n})"
        ]
    text = f"g ({', '.join(inputs)}) => ({', '.join(outputs)}) <int64[1] last = {{-1}}> {{"
    return onnx.parser.parse_model(f"{HEAD} {text} {' '.join(nodes)} }}")


@pytest.mark.parametrize("count", [1, 4])
def test_promises_that_only_together_remove_a_scatter(count: int) -> None:
    """They are of one kind, so they are one change."""
    target = "standard, remove = ['Mod', 'Less', 'Gather', 'GatherElements']"
    model = two_indices("50", count)
    (found,) = advise(model, target=target)
    assert len(found.nodes) == count
    command = shlex.split(found.ways[0].command)
    target = command[command.index("--target") + 1]
    promise = [word for word in command if ":" in word]
    assert sorted(promise) == sorted(f"{x}{n}: nonnegative" for x in "ab" for n in range(count))
    assert optimize(model, target=target, assume=promise).report.removed == count
    for place in range(2):
        assert not optimize(model, target=target, assume=promise[place::2]).report.removed


def test_options_of_two_kinds_are_one_command(tmp_path: Path) -> None:
    """The target must allow the dense form and have its operators: each alone removes nothing."""
    npu = tmp_path / "npu.toml"
    npu.write_text(
        "name = 'npu'\nextends = 'standard'\nremove = ['CumSum']\n"
        "[limits.ScatterND]\nnative = false"
    )
    model = onnx.parser.parse_model(HEAD + ROWS.replace("ND (x", 'ND <reduction = "add"> (x'))
    (found,) = advise(model, target=npu)
    dense, operators = "dense = true", 'add = ["CumSum"]'
    (way,) = found.ways
    assert shlex.split(way.command)[-1] == f"{npu}, {dense}, {operators}"
    for keys, removed in (f"{dense}, {operators}", 1), (dense, 0), (operators, 0):
        assert optimize(model, target=f"{npu}, {keys}").report.removed == removed


def test_what_was_not_tried_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """g (float[P, 5] x, int64[K] a, float[K, 5] u) => (float[P, 5] y)
        <int64[1] last = {-1}> {
        i = Unsqueeze (a, last)  y = ScatterND (x, i, u) }"""
    target = "standard, remove = ['Mod', 'Less', 'Gather', 'GatherElements']"
    model = onnx.parser.parse_model(HEAD + text)
    (all_of_it,) = advise(model, target=target)
    assert all_of_it.ways
    monkeypatch.setattr(search, "_CHANGES", 1)
    monkeypatch.setattr(search, "_TOGETHER", 0)
    kept, rest = advise(model, target=target)
    assert not kept.ways
    (line,) = rest.lines()
    assert line.startswith("changes that were not tried (")
    told = line.partition("): ")[2].split("; ")
    assert "--assume 'a: nonnegative'" in told
    assert line == f"changes that were not tried ({len(told)}): {'; '.join(told)}"


def windows(height: str, width: str) -> onnx.ModelProto:
    """Return Swin's mask: nine windows of numbers, whose middle is cut to a length of 4.

    The exporter writes ``mask[:, h, w, :] = n`` for each slice h of (0, -7), (-7, -3), (-3, None)
    and each such w. A simplifier has written 4 for the length of the middle slices.
    """
    cuts = [("zero", "a"), ("a", "b"), ("b", "end")]
    lines = ["all = Shape <start = 1, end = 3> (x)  m0 = Sub (x, x)"]
    for axis, name in enumerate("hw"):
        lines.append(
            f"{name}v = Gather <axis = 0> (all, n{axis})  {name}r = Range (n0, {name}v, n1)"
        )
        for i, (start, end) in enumerate(cuts):
            lines.append(f"{name}{i} = Slice ({name}r, {start}, {end}, zero)")
            length = "Identity (four)" if i == 1 else f"Shape ({name}{i})"
            lines.append(f"{name}n{i} = {length}")
    for n in range(9):
        i, j = divmod(n, 3)
        lines.append(
            f"s{n} = Concat <axis = 0> (hn{i}, wn{j}, one)  h_{n} = Unsqueeze (h{i}, behind)"
            f" w_{n} = Unsqueeze (w{j}, last)  p{n} = Expand (h_{n}, s{n})"
            f" q{n} = Expand (w_{n}, s{n})"
            f" o{n} = ConstantOfShape <value = int64[1] {{0}}> (s{n})"
            f" k{n} = Concat <axis = -1> (o{n}, p{n}, q{n})"
            f" f{n} = CastLike (n{n}, x)  u{n} = Expand (f{n}, s{n})"
            f" m{n + 1} = ScatterND (m{n}, k{n}, u{n})"
        )
    named = {"zero": 0, "a": -7, "b": -3, "end": 2**63 - 1, "one": 1, "four": 4, "last": -1}
    known = [f"int64[1] {name} = {{{number}}}" for name, number in named.items()]
    known += ["int64[2] behind = {-2, -1}", *(f"int64 n{n} = {{{n}}}" for n in range(9))]
    shape = f"float[1, {height}, {width}, 1]"
    text = f"g ({shape} x) => ({shape} m9) <{', '.join(known)}> {{ {' '.join(lines)} }}"
    return onnx.parser.parse_model(HEAD + text)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("sizes", "promise"),
    [(("H", "W"), ["H >= 7", "W >= 7"]), (("H", "16"), ["H >= 7"]), (("16", "W"), ["W >= 7"])],
)
def test_bounds_of_sizes(sizes: tuple[str, str], promise: list[str]) -> None:
    """Below 7 rows or columns, the windows overlap; at 7 and more no write is kept."""
    model = windows(*sizes)
    found = advise(model, target="standard")
    told = [re.findall("--assume '(.*?)'", way.command) for a in found for way in a.ways]
    assert promise in told
    assert all(set(given) <= set(promise) for given in told)
    kept = len(inspect(model, target="standard").scatters)
    assert optimize(model, target="standard").report.removed < kept == 9
    result = optimize(model, target="standard", assume=promise)
    assert result.report.removed == 9
    assert verify(model, result.model, samples=10).same
    lower = [text.replace("7", "4") for text in promise]
    assert optimize(model, target="standard", assume=lower).report.removed < 9


@pytest.mark.parametrize("text", [START, THREE, ROWS])
def test_scatterx_is_what_was_asked_for(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is tried, and no other target is named as what to do next."""
    model = onnx.parser.parse_model(HEAD + text)
    report = inspect(model)
    assert report.native == 1
    assert not report.is_open
    assert advise(model) == ()
    assert "What would remove it" not in report.to_html()
    path = str(tmp_path / "m.onnx")
    onnx.save(model, path)
    assert main(["optimize", path, "-o", str(tmp_path / "o.onnx")]) == 0
    assert "what to do next" not in capsys.readouterr().out


def test_another_reason_with_sizes_fixed_is_told_as_such() -> None:
    text = """g (float[n, 2] x, int64[k, 1] i, float[k, 2] u) => (float[n, 2] y) {
        y = ScatterND (x, i, u) }"""
    model = onnx.parser.parse_model(HEAD + text)
    (entry,) = inspect(model, target="rknn").scatters
    (found,) = (each for each in advise(model, target="rknn") if each.nodes)
    assert entry.reason is Reason.UNKNOWN_INDICES
    told = f"with n=96 k=64, {Reason.NOT_IN_TARGET.value} ("  # the sizes of the command above
    assert found.why.startswith(told)
    _, after = explain(model, target="rknn").split("\n  next      ")
    assert after.startswith(told)
    assert "\n            no option that was tried removes it\n" in after


def test_sizes_that_a_command_has_are_not_told_twice() -> None:
    """The reason is that with the sizes of the command."""
    text = """g (float[n, 2] x, int64[k, 1] i, float[k, 2] u) => (float[n, 2] y) {
        y = ScatterND (x, i, u) }"""
    model = onnx.parser.parse_model(HEAD + text)
    taken = ["Add", "Concat", "Constant", "Mul", "Reshape", "Slice", "Where"]
    target = f"standard, static_only = true, operators = {taken}"
    (found,) = (each for each in advise(model, target=target) if each.ways and each.nodes)
    assert found.why.startswith("with sizes fixed, ")
    assert "--fix n=96 --fix k=64" in found.ways[0].command


def test_a_scatter_that_no_option_removes() -> None:
    text = """g (float[8] x, int64[20, 1] i, float[20] u) => (float[8] y) {
        y = ScatterND <reduction = "mul"> (x, i, u) }"""
    (found,) = advise(onnx.parser.parse_model(HEAD + text), target="rknn")
    first, second = found.lines()
    assert first.startswith("y is kept: ")
    assert second.startswith("  no option that was tried removes it; missing: ")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The result, and below it what to do next; `explain` says it, and JSON if it is asked for."""
    path, out = str(tmp_path / "m.onnx"), str(tmp_path / "o.onnx")
    onnx.save(onnx.parser.parse_model(HEAD + TWICE), path)
    command = f"onnx-scatterx optimize {path} -o {out} --target standard"
    assert main(["optimize", path, "-o", out, "--target", "standard"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("0 of 1 scatters removed, ")
    place = told.index("what to do next:")
    assert told[place - 1] == "1 node, 1 of them scatters: ScatterND"
    assert f"      {command} --deterministic" in told[place:]
    report = tmp_path / "r.json"
    written = ["optimize", path, "-o", out, "--report", str(report)]
    for typed, places in (["inspect", path], 1), (written, 2):
        for more, count in ([], 0), (["--advice"], 1):
            assert main([*typed, "--target", "standard", "--json", *more]) == 0
            texts = [capsys.readouterr().out, report.read_text() if places > 1 else ""][:places]
            found: list[Any] = [advice for text in texts for advice in json.loads(text)["advice"]]
            assert [a["ways"][0]["command"].split()[-1] for a in found] == (
                ["--deterministic"] * count * places
            )
    assert main(["explain", path, "--target", "standard"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[1].startswith("  answer    kept: ")
    assert "next      removed by:" in told[3]
    assert told[4].endswith("--deterministic")
    assert "equation" not in "".join(told)


def test_the_command_inspects_the_model_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And says what `advise` says, which inspects it, too."""
    path, runs = str(tmp_path / "m.onnx"), []
    onnx.save(onnx.parser.parse_model(HEAD + ROWS), path)
    command = Command(path, "OUT.onnx", "standard")
    expected = [a.to_dict() for a in advise(path, target="standard", command=command)]

    def counted(*arguments: Any, **options: Any) -> Any:
        runs.append(arguments)
        return optimize_ir(*arguments, **options)

    monkeypatch.setattr(inquiry, "optimize_ir", counted)
    assert main(["inspect", path, "--target", "standard", "--json", "--advice"]) == 0
    assert json.loads(capsys.readouterr().out)["advice"] == expected
    assert len(runs) == 1


def test_a_step_does_what_it_says() -> None:
    model = onnx.parser.parse_model(HEAD + EMPTY)
    assert optimize(model, target="standard").report.removed == 0
    assert optimize(model, target="standard", assume="N >= 1").report.removed == 1


def test_the_options_of_the_user_are_kept() -> None:
    """No way contradicts it, or leaves it out."""
    assert advice(ROWS, target="standard", assume="at <= -1") == [DENSE]
    assert advice(TWICE, target="standard", deterministic=True) == []


def test_a_rank_names_the_size_that_leaves_it_open() -> None:
    model = onnx.parser.parse_model(HEAD + EMPTY)
    (scatter,) = optimize(model, target="standard").report.scatters
    product = """v = ScatterND <reduction = "mul"> (w, k, t) y = ScatterND (r, rows, u) }"""
    both = EMPTY.replace("(float[N, 4] x)", "(float[N,4] x, float[8] w, int64[2,1] k, float[2] t)")
    both = both.replace("y = ScatterND (r, rows, u) }", product).replace("=> (y)", "=> (v, y)")
    found = optimize(onnx.parser.parse_model(HEAD + both), target="standard").report.scatters
    assert ["--assume" in str(s.refusal) for s in found] == [False, True]
    assert str(scatter.refusal) == "the rank of an input is unknown (data; try --assume 'N >= 1')"


def test_a_command_names_the_file_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "my model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + TWICE), path)
    (found,) = advise(path, target="standard")
    assert found.ways[0].command.startswith(f"onnx-scatterx optimize '{path}' -o OUT.onnx ")


@pytest.mark.parametrize("command", ["inspect", "optimize"])
def test_it_has_a_stage_of_its_own(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """The line of progress counts the changes that are tried; with --no-advice there are none."""
    path, told = str(tmp_path / "m.onnx"), []
    onnx.save(onnx.parser.parse_model(HEAD + TWICE), path)

    @contextmanager
    def noted(**_: object) -> Iterator[Progress]:
        yield lambda *stage: told.append(stage)

    monkeypatch.setattr("onnx_scatterx.doors.cli.inspect.stages", noted)
    written = ["-o", str(tmp_path / "o.onnx")] if command == "optimize" else []
    typed = [command, path, "--target", "standard", *written]
    assert main(typed) == 0
    tried = [done for stage, done, _ in told if stage == "trying what would help"]
    assert tried == list(range(len(tried)))
    assert len(tried) > 1
    told.clear()
    assert main([*typed, "--no-advice"]) == 0
    assert told
    assert "trying what would help" not in {stage for stage, *_ in told}


@pytest.mark.parametrize(
    ("count", "wide", "told"),
    [
        ("500", "N,8", "4008*N elements (4 bytes each in float)"),
        ("500", "K,8", "501*N or 4008*K elements, whichever is more (4 bytes each in float)"),
        ("M", "N,8", "8*N + 8*"),  # of one command for all, and of that for the larger one alone
    ],
)
def test_a_command_for_several_scatters_has_the_largest_of_their_prices(
    count: str, wide: str, told: str
) -> None:
    add = 'ScatterElements <axis = 0, reduction = "add">'
    text = f"""g (float[N] x, int64[{count}] i, float[{count}] u, float[{wide}] z,
               int64[{count},8] j, float[{count},8] v)
        => (float[N] y, float[{wide}] w) {{ y = {add} (x, i, u)  w = {add} (z, j, v) }}"""
    found = advise(onnx.parser.parse_model(HEAD + text), target="standard")
    priced = [(a.nodes, w.condition) for a in found for w in a.ways if "dense" in w.command]
    assert priced[0][0] == ("y", "w")
    assert all(condition.startswith(f"its largest tensor has {told}") for _, condition in priced)
