"""The words of a page that not everyone knows, explained, and linked from where they appear."""

from __future__ import annotations

from onnx_scatterx.text.visible import as_html

WORDS = {
    "scatter": (
        "A node that writes updates into a copy of its data, at positions that an index tensor "
        "names: ScatterND, ScatterElements, TensorScatter. Exporters write x[:, 1:3] = y as one."
    ),
    "sliceable": (
        "Whole slices of the updates, along their last dims, land in the data in one piece. Such a "
        "write is a few Slices that are put together by Concat."
    ),
    "weakly sliceable": (
        "Some dims of the updates move in one piece, but they are not the last ones, or do not "
        "stay the last ones. After a Transpose the write moves whole slices."
    ),
    "not sliceable": (
        "No dim of the updates moves in one piece: where an element goes depends on several "
        "coordinates at once, or on a step. It can still be removed if a rule has a form for it."
    ),
    "unknown": "Too little is known of the indices to say whether slices move.",
    "box": (
        "The elements between two bounds on each axis, as in x[1:3, :]. A strided box takes every "
        "n-th position of an axis."
    ),
    "ScatterX": (
        "One operator in place of a scatter that no rule can remove. A model-local function of "
        "standard operators stands behind it, so the model runs anywhere; with the native library "
        "ONNX Runtime runs it faster."
    ),
    "proven": (
        "It follows from the model alone, for every input on which the original runs, that the new "
        "nodes compute the same. No sample inputs are involved."
    ),
    "compared": (
        "Both models were run on drawn inputs, and every bit of every output was compared."
    ),
    "assumption": (
        "What the proof takes for granted beside the model. If it does not hold for an input, the "
        "new model may give another result for it."
    ),
    "I, J, p1, p2, p and f": (
        "The update at index I goes to the element J of the data: J = p(f(p1(I)) ++ p2(I)). f is "
        "looked up in the index tensor at some coordinates p1 of I, other coordinates p2 go over "
        "as they are, and p puts both in the order of the axes. I_0 is the first coordinate of I."
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
