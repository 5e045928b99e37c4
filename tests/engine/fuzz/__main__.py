"""``python -m tests.engine.fuzz``: a campaign on all models of a directory."""

import argparse
import random
import sys
from pathlib import Path

from tests.engine.fuzz.campaign import campaign, cases


def main() -> int:
    """Run a campaign; return 1 if a mutant was found, or too few were accepted."""
    parser = argparse.ArgumentParser(prog="python -m tests.engine.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--seed", type=int, help="of the mutants (drawn)")
    parser.add_argument("--count", type=int, default=10**7, help="how many mutants at most")
    parser.add_argument("--models", type=Path, default=Path("models"), help="a directory of models")
    parser.add_argument("--keep", type=Path, help="a directory for the mutants that were found")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    paths = sorted(given.models.rglob("*.onnx"))
    if not paths:
        parser.error(f"there are no models in {given.models}")
    print(f"seed {seed}, {len(paths)} models, {given.seconds:g} seconds", flush=True)
    waiting = cases(paths, seed, given.seconds, given.count)
    tally = campaign(waiting, keep=given.keep)
    print(tally)
    if tally.says_little:
        print("too few mutants were accepted")
    return int(bool(tally.found) or tally.says_little)


if __name__ == "__main__":
    sys.exit(main())
