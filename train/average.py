"""Average the weights of two checkpoints of one training line, which often judges better than either.

    python -m train.average --first .work/run2 --second .work/run4 --share 0.7 --out .work/run4a

A network and what further training made of it lie in one basin; a point between them keeps what the first knew and
takes what the second learned (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). The share is chosen on
rows of the `fit` part, never on the development sets.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import torch

from train.two_heads import TwoHeads, load_two_heads, save_two_heads


def average(first: TwoHeads, second: TwoHeads, share: float) -> TwoHeads:
    """`share` of the second network and the rest of the first, in the first's place.

    Raises:
        ValueError: the share is not in [0, 1], or the networks differ in shape.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"the share must lie in [0, 1], not be {share}")
    mine, other = first.state_dict(), second.state_dict()
    if {k: v.shape for k, v in mine.items()} != {k: v.shape for k, v in other.items()}:
        raise ValueError("only networks of one shape can be averaged")
    mixed = {k: torch.lerp(v, other[k], share) if v.is_floating_point() else v for k, v in mine.items()}
    first.load_state_dict(mixed)
    return first


def main() -> None:
    """Read both folders, write the average with what both runs recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=Path, required=True, help="the folder of the earlier run")
    parser.add_argument("--second", type=Path, required=True, help="the folder of the run that went on from it")
    parser.add_argument("--share", type=float, required=True, help="how much the second counts, in [0, 1]")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    mixed = average(
        *(load_two_heads(folder / "model") for folder in (arguments.first, arguments.second)), arguments.share
    )
    shutil.copytree(arguments.second / "model", arguments.out / "model", dirs_exist_ok=True)
    save_two_heads(mixed, arguments.out / "model")
    record = json.loads((arguments.second / "run.json").read_text())
    record["averaged"] = {"with": "the network that this run began with", "share_of_this_run": arguments.share}
    (arguments.out / "run.json").write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
