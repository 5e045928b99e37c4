"""Branches that fail if they are taken, and that read what is written outside of them."""

from tests.helpers.support import assert_sound


def test_a_branch_that_could_not_run() -> None:
    # Three updates for two places: the branch fails if it is taken, and yet the model loads.
    model = """g (float[4] x, float[3] u, bool c) => (float[M] y) <int64[2,1] i = {2, 3}> {
        y = If (c) <
            then_branch = yes () => (float[P] p) { p = ScatterND <reduction = "add"> (x, i, u) },
            else_branch = no () => (float[Q] q) { q = Neg (x) }
        > }"""
    assert_sound(model, {"c": False}, {"c": True}, rejected=1, left=1)


def test_a_branch_that_reads_beyond_known_elements() -> None:
    # There is no row 2 of the zeros.
    model = """g (float[2,3] x, float[1,3] u, bool c) => (float[M,K] y) {
            y = If (c) <
                then_branch = yes () => (float[P,R] p) {
                    z = ScatterND (x, [[0], [1]], float [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
                    row = Gather (z, 2)
                    p = Unsqueeze (row, [0]) },
                else_branch = no () => (float[Q,S] q) { q = Neg (x) }
            > }"""
    assert_sound(model, {"c": False}, {"c": True}, rejected=1)


def test_a_branch_that_reads_what_was_rewritten_outside() -> None:
    # What is known of the outer scatter's result holds for what replaced it.
    model = """g (float[4,2] x, float[1,2] u, bool c) => (float[M,K] y) {
            z = ScatterND (x, [[2]], u)
            y = If (c) <
                then_branch = yes () => (float[P,R] p) { p = ScatterND (z, [[0]], u) },
                else_branch = no () => (float[Q,S] q) { q = Neg (z) }
            > }"""
    assert_sound(model, {"c": False}, {"c": True}, left=0)
