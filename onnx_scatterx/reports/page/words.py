"""The glossary of a page: its technical words, which the page links to their explanations."""

from __future__ import annotations

from onnx_scatterx.text.visible import as_html

WORDS = {
    "scatter": (
        "A node that writes updates into a copy of its data, at the positions in an index tensor: "
        "ScatterND, ScatterElements, TensorScatter. Exporters write x[:, 1:3] = y as a scatter."
    ),
    "sliceable": (
        "Slices of the updates, along their last dims, are written into the data in one piece. "
        "Such a write becomes a few Slices and a Concat."
    ),
    "weakly sliceable": (
        "Some dims of the updates move in one piece. But they are not the last dims of the "
        "updates, or do not become the last axes of the data. This often needs one more Transpose."
    ),
    "not sliceable": (
        "No dim of the updates moves in one piece: a position depends on several coordinates at "
        "once, is shifted, or has a step. The scatter can be removed if a rule has a form for it."
    ),
    "unknown": "Too little is known of the indices to decide whether slices move in one piece.",
    "box": (
        "The elements between two bounds on each axis, as in x[1:3, :]. A strided box takes every "
        "n-th position of an axis."
    ),
    "ScatterX": (
        "One operator in place of a scatter that no rule can remove. A model-local function of "
        "standard operators defines it, so the model runs anywhere. With the native library, ONNX "
        "Runtime runs it faster."
    ),
    "proven": (
        "For every input on which the original model runs, the new nodes compute the same values. "
        "This follows from the model alone, without sample inputs."
    ),
    "compared": (
        "Both models were run on drawn inputs, and every bit of every output was compared."
    ),
    "assumption": (
        "A statement that the proof uses in addition to the model. If it is not true of an input, "
        "the new model may give another result for this input."
    ),
    "I, J, p1, p2, p and f": (
        "The update at index I goes to the element J of the data: J = p(f(p1(I)) ++ p2(I)). f "
        "reads the index tensor at some coordinates p1 of I. Other coordinates p2 of I are copied. "
        "p puts both into the order of the axes of the data. I_0 is the first coordinate of I."
    ),
}


def link(word: str, prefix: str, text: str | None = None) -> str:
    """Return a word as a link to its explanation."""
    shown = as_html(word if text is None else text)
    if word not in WORDS:
        return shown
    return f'<a class="word" href="#{_id(word, prefix)}">{shown}</a>'


def glossary(prefix: str) -> str:
    """Return the list of all words."""
    rows = "\n".join(
        f'<div id="{_id(word, prefix)}"><dt>{as_html(word)}</dt><dd>{as_html(text)}</dd></div>'
        for word, text in WORDS.items()
    )
    return f'<dl class="words">\n{rows}\n</dl>'


def _id(word: str, prefix: str) -> str:
    return f"{prefix}w{list(WORDS).index(word)}"
