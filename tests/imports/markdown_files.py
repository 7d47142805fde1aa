"""Folders of Markdown that tests import, and the results."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

from content.models import Post
from content.store.post_repository import load
from proofroom.definitions.richtext.nodes import to_text
from tests.imports.command import call_import


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def run(folder: Path, **options: str) -> list[str]:
    out = StringIO()
    call_import("markdown", str(folder), stdout=out, stderr=out, **options)
    return out.getvalue().splitlines()


def paths() -> list[str]:
    return sorted(Post.objects.values_list("path", flat=True))


def blocks(post: Post) -> list[str]:
    module = load(post).modules[0]
    assert module.type == "prose"
    return [str(block["type"]) for block in module.props["content"]["content"]]


def heading_levels(post: Post) -> set[int]:
    found: set[int] = set()

    def walk(node: Any) -> None:
        if node["type"] == "heading":
            found.add(node["attrs"]["level"])
        for child in node.get("content", ()):
            walk(child)

    for module in load(post).modules:
        if "content" in module.props:
            walk(module.props["content"])
    return found


def links(path: str) -> list[str]:
    found: list[str] = []

    def walk(node: Any) -> None:
        for mark in node.get("marks", ()):
            if mark["type"] == "link":
                found.append(mark["attrs"]["href"])
        for child in node.get("content", ()):
            walk(child)

    for module in load(Post.objects.get(path=path)).modules:
        walk(module.props["content"])
    return found


def text_of(path: str) -> str:
    return "\n".join(
        to_text(one.props["content"]) for one in load(Post.objects.get(path=path)).modules
    )
