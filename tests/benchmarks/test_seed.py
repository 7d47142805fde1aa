"""The posts read by the benchmarks have distinct texts."""

from __future__ import annotations

import orjson

from benchmarks import seed
from proofroom.core.json import Json
from proofroom.definitions.richtext.markdown_reader import from_markdown


def texts_in(value: Json) -> list[bytes]:
    """Return all rich texts in the properties of a module."""
    if isinstance(value, dict):
        if value.get("type") == "doc":
            return [orjson.dumps(value)]
        value = list(value.values())
    if isinstance(value, list):
        return [text for inner in value for text in texts_in(inner)]
    return []


def test_no_module_and_no_rich_text_comes_twice() -> None:
    modules = [props for _ in range(200) for _, props in seed.new_modules()]
    texts = texts_in([*modules])

    assert len({orjson.dumps(props) for props in modules}) == len(modules) == 5 * 200
    assert len(set(texts)) == len(texts) == 6 * 200


def test_plain_paragraphs_are_written_as_markdown_has_them() -> None:
    paragraphs = ["garden kettle", "filter bloom"]

    assert seed.rich_text(paragraphs) == from_markdown("\n\n".join(paragraphs))
