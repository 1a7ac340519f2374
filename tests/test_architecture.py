"""The drawings of docs/architecture.md name what there is."""

import re
from pathlib import Path

import assay

SOURCE = Path(assay.__file__ or "").parent
PAGE = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"\b[a-z_]+(?:/[a-z_]+)+(?:\.py)?\b", PAGE)))
NODES = re.findall(r'\["([^"<]*)<br/>([^"]*)"\]', PAGE)


def test_every_path_in_the_drawings_exists() -> None:
    named = [path for path in PATHS if (SOURCE / path.split("/", maxsplit=1)[0]).is_dir()]
    assert len(named) > 25
    assert [path for path in named if not (SOURCE / path).exists()] == []


def test_every_class_and_function_in_the_drawings_stands_in_the_file_beside_it() -> None:
    missing = []
    for words, places in NODES:
        files = [SOURCE / place for place in places.split(", ") if place.endswith(".py")]
        code = "".join(file.read_text(encoding="utf-8") for file in files)
        names = re.findall(r"\b(?:[A-Z][a-z]+[A-Z]\w+|[a-z]+_[a-z_]+)\b", words)
        missing += [name for name in names if files and not re.search(rf"\b{name}\b", code)]
    assert missing == []


def test_both_walks_are_drawn() -> None:
    assert PAGE.count("```mermaid") == 2
    assert len(NODES) > 20
