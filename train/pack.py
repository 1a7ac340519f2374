"""Rows and weights in the form that `train.accelerated` reads: tokens made here, so that nothing is needed there.

    python -m train.pack rows --tokenizer .work/shipped/model --part scenarios=.work/a.jsonl.gz,.work/b.jsonl.gz \\
        --part edits=.work/edits.jsonl.gz --out .work/rows.npz.xz
    python -m train.pack weights --base .work/shipped/model --out .work/start.safetensors
    python -m train.pack unpack --base .work/shipped/model --trained .work/end.safetensors --out .work/run

`rows` encodes as `train.network` does, part by part. `weights` writes a network with both heads into one file, and
`unpack` puts what training moved back into the folder of a run, as `train.network` leaves it.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from train.network import Encoded, Settings, encode
from train.provenance import commit_of, versions_of
from train.rows import Row
from train.two_heads import TwoHeads, load_two_heads, save_two_heads
from train.written import digest_of, read_made

REPOSITORY = Path(__file__).resolve().parents[1]
EMBEDDINGS = ("word_embeddings", "position_embeddings")
"""What training leaves as it is."""


def claim_length(item: Encoded) -> int:
    """Tokens of the second text, with the mark behind it."""
    return sum(item.types)


def arrays(items: Sequence[Encoded], rows: Sequence[Row], parts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The arrays of a packed file; of tokens of the claim only it is kept whether they are wrong.

    Args:
        items: encoded rows.
        rows: the same rows before.
        parts: the name of each row's part.
    """
    names, sets = sorted(set(parts)), sorted({row.source for row in rows})
    of_part, of_set = {name: i for i, name in enumerate(names)}, {name: i for i, name in enumerate(sets)}
    numbers: dict[str, int] = {}
    groups = [-1 if one.group is None else numbers.setdefault(one.group, len(numbers)) for one in items]
    wrong = [np.array(one.wrong[-claim_length(one) :], np.int8) for one in items]
    return {
        "ids": np.concatenate([np.array(one.ids, np.uint16) for one in items]),
        "wrong": np.concatenate(wrong),
        "lengths": np.array([len(one.ids) for one in items], np.uint16),
        "claim_lengths": np.array([claim_length(one) for one in items], np.uint16),
        "targets": np.array([one.target for one in items], np.uint8),
        "groups": np.array(groups, np.int32),
        "parts": np.array([of_part[name] for name in parts], np.uint8),
        "sets": np.array([of_set[row.source] for row in rows], np.uint16),
        "names": np.array(json.dumps(names)),
        "set_names": np.array(json.dumps(sets)),
    }


def write_packed(path: Path, made: dict[str, NDArray[Any]]) -> None:
    """One compressed file; a dictionary as large as the file finds evidence again that stands beside many claims."""
    held = io.BytesIO()
    np.savez(held, **made)  # type: ignore[arg-type]
    size = max(1 << 16, 1 << (held.getbuffer().nbytes - 1).bit_length())
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": min(size, 1 << 28)}]
    with lzma.open(path, "wb", format=lzma.FORMAT_XZ, filters=filters) as file:
        file.write(held.getvalue())


def flat(model: TwoHeads) -> dict[str, torch.Tensor]:
    """All weights of a network with both heads under one set of names."""
    if model.token_head is None:
        raise SystemExit("The network has no token head; start from one that `train.network` or `train.shipped` wrote.")
    found = {name: value for name, value in model.network.state_dict().items() if not name.endswith("position_ids")}
    found |= {f"token_head.{name}": value for name, value in model.token_head.state_dict().items()}
    return {name: value.contiguous() for name, value in found.items()}


def put_back(model: TwoHeads, trained: dict[str, torch.Tensor]) -> None:
    """Give a network the weights that training moved; those of the embeddings stay.

    Raises:
        SystemExit: a weight that training moves is missing.
    """
    moved = {name for name, _ in model.network.named_parameters() if not any(one in name for one in EMBEDDINGS)}
    missing = moved - trained.keys()
    if missing:
        raise SystemExit(f"{len(missing)} weights are missing, among them {min(missing)}: is it another network?")
    state = {name: value.float() for name, value in trained.items() if not name.startswith("token_head.")}
    model.network.load_state_dict(state, strict=False)
    assert model.token_head is not None  # `flat` saw to it
    model.token_head.load_state_dict({kind: trained[f"token_head.{kind}"].float() for kind in ("weight", "bias")})


def _parts(texts: Sequence[str]) -> Iterator[tuple[str, list[Row]]]:
    """Names and rows of `NAME=FILE,FILE`."""
    for text in texts:
        name, _, files = text.partition("=")
        yield name, [row for path in files.split(",") for row in read_made(Path(path))]


def pack_rows(given: argparse.Namespace) -> None:
    """Encode, write, say what came out."""
    tokenizer = AutoTokenizer.from_pretrained(given.tokenizer)
    parts, rows, items = [], [], []
    counts = {}
    for name, found in _parts(given.part):
        encoded = encode(tokenizer, found, Settings(), random.Random(given.seed))
        parts += [name] * len(found)
        rows += found
        items += encoded
        counts[name] = {"rows": len(found), "tokens": sum(len(one.ids) for one in encoded), "digest": digest_of(found)}
        print(f"{name}: {counts[name]['rows']:,} rows, {counts[name]['tokens']:,} tokens", flush=True)
    write_packed(given.out, arrays(items, rows, parts))
    given.out.with_suffix(".json").write_text(json.dumps({"parts": counts, "seed": given.seed}, indent=2) + "\n")
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB")


def unpack(given: argparse.Namespace) -> None:
    """Write the folder of a run; of several trained networks their mean."""
    model = load_two_heads(given.base)
    trained = [load_file(path) for path in given.trained]
    put_back(model, {name: sum(one[name].float() for one in trained) / len(trained) for name in trained[0]})
    folder = given.out / "model"
    folder.mkdir(parents=True, exist_ok=True)
    save_two_heads(model, folder)
    AutoTokenizer.from_pretrained(given.base).save_pretrained(folder)
    record: dict[str, object] = {
        "accelerated": [json.loads(path.with_suffix(".json").read_text()) for path in given.trained],
        "commit": commit_of(REPOSITORY),
        "versions": versions_of(("torch", "transformers", "tokenizers", "numpy")),
    }
    before = given.base.parent / "run.json"
    if before.exists():
        record["before"] = json.loads(before.read_text())
    (given.out / "run.json").write_text(json.dumps(record, indent=2) + "\n")


def main() -> None:
    """Read arguments, do what they ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    one = verbs.add_parser("rows", help="encode rows")
    one.add_argument("--tokenizer", type=Path, required=True)
    one.add_argument(
        "--part", action="append", required=True, help="NAME=FILE,FILE of rows, as often as there are parts"
    )
    one.add_argument("--seed", type=int, default=7)
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(run=pack_rows)
    two = verbs.add_parser("weights", help="a network in one file")
    two.add_argument("--base", type=Path, required=True)
    two.add_argument("--out", type=Path, required=True)
    two.set_defaults(run=lambda given: save_file(flat(load_two_heads(given.base)), given.out))
    three = verbs.add_parser("unpack", help="the folder of a run")
    three.add_argument("--base", type=Path, required=True)
    three.add_argument("--trained", type=Path, nargs="+", required=True, help="what `train.accelerated` wrote")
    three.add_argument("--out", type=Path, required=True)
    three.set_defaults(run=unpack)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
