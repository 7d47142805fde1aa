"""A scripted model: recorded tool calls, and expected parts of each answer.

`{{create.postId}}` is replaced by a value from an earlier answer. A part of such a path is a key,
an index, or `type=hero`: the first item whose `type` is `hero`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "transcripts"
_NAMES = re.compile(r"\{\{([^{}]+)\}\}")


def transcript(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text()))


class ScriptedModel:
    """Plays transcripts with a client. `said`: every answer by the name of its step."""

    def __init__(self, client: Any, given: dict[str, Any]) -> None:
        self.client = client
        self.said: dict[str, Any] = {"given": given}
        self.calls = 0

    async def play(self, name: str) -> dict[str, Any]:
        await self._all(transcript(name)["steps"])
        return self.said

    async def _all(self, steps: list[dict[str, Any]]) -> None:
        for step in steps:
            if "for_each" in step:
                for item in self.filled(step["for_each"]):
                    self.said[step["name"]] = item
                    await self._all(step["steps"])
            elif "read" in step:
                read = await self.client.read_resource(step["read"])
                assert step["says"] in read.contents[0].text
            else:
                await self._call(step)

    async def _call(self, step: dict[str, Any]) -> None:
        result = await self.client.call_tool(step["call"], self.filled(step["with"]))
        text, self.calls = result.content[0].text, self.calls + 1
        if "refused" in step:
            assert result.is_error is True, result.structured_content
            assert self.filled(step["refused"]) in text, text
            return
        assert result.is_error is False, f"{step['call']}: {text}"
        answer = result.structured_content
        assert json.loads(text) == answer
        self.said[step.get("as", "last")] = answer
        assert self.filled(step.get("says", "")) in text
        for path, expected in step.get("holds", {}).items():
            found = reached(answer, path)
            assert found == self.filled(expected), f"{step['call']} {path}: {found!r}"
        assert not set(step.get("absent", ())) & set(answer), answer

    def filled(self, value: Any) -> Any:
        """Return a value of the transcript with values of earlier answers filled in."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        whole = _NAMES.fullmatch(value)
        if whole:
            return reached(self.said, whole[1])
        return _NAMES.sub(lambda name: str(reached(self.said, name[1])), value)


def reached(value: Any, path: str) -> Any:
    """Return the value at a path. Raises `AssertionError` for an invalid path."""
    for part in _parts(path):
        if isinstance(value, list) and "=" in part:
            key, _, wanted = part.partition("=")
            value = next((item for item in value if item.get(key) == wanted), None)
        elif isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        else:
            assert part in value, f"{part} of {path} is not in {value}"
            value = value[part]
        assert value is not None, f"{part} of {path} leads nowhere"
    return value


def _parts(path: str) -> list[str]:
    """Split a path. `changes.path=post.title.after` has three parts, because a post field is one part."""
    return re.findall(r"path=post\.\w+|[^.]+", path)
