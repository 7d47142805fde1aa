"""Imports a folder of Markdown files as draft posts, with sub-folders as their parents. Safe to run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import yaml
from django.db import transaction

from content.document import PostDocument
from content.models import Post
from content.post_fields import POST_FIELDS
from content.posts import document_edits
from content.posts.create import create_post
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import slug_of
from proofroom.definitions import find_post_type
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.nodes import Node, attributes, children, kind, to_text

LARGEST_FILE: Final = 2 * 1024 * 1024
_SUFFIXES: Final = frozenset({".md", ".markdown"})
_FOLDER_PAGES: Final = ("index", "_index", "readme")
_FIELDS: Final[Mapping[str, str]] = {
    "description": "metaDescription",
    **{
        name: name
        for name, field in POST_FIELDS.items()
        if field.is_text and field.translatable and name != "title"
    },
}
"""The field that each name of the front matter fills; other names are left alone."""
Outcome = Literal["made", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Imported:
    """The result for one file; `detail` is the path made, or why not."""

    file: str
    outcome: Outcome
    detail: str


@dataclass(frozen=True, slots=True)
class _Document:
    title: str
    slug: str
    fields: JsonObject
    body: JsonObject


def import_folder(folder: Path, *, type: str, locale: str, actor: Actor) -> Iterator[Imported]:
    """Import every Markdown file below the folder, one transaction and one answer each.

    In a hierarchical type a sub-folder stands below the page of its name, or of its `index.md`, made empty
    where there is none. Raises `NotAllowed`, and `RuleViolation` for an unknown type.
    """
    actor.require_person("import posts")
    actor.require("posts.create")
    importer = _Importer(folder.resolve(), type, locale, actor)
    yield from importer.folder(importer.root, None)


class _Importer:
    def __init__(self, root: Path, type: str, locale: str, actor: Actor) -> None:
        self.root, self.type, self.locale, self.actor = root, type, locale, actor
        self.is_tree = find_post_type(type).hierarchical

    def folder(self, folder: Path, parent: Post | None) -> Iterator[Imported]:
        names = sorted(folder.iterdir(), key=lambda path: path.name)
        # A link could lead out of the folder, or in a circle.
        names = [path for path in names if not path.is_symlink()]
        files = [path for path in names if path.is_file() and path.suffix.lower() in _SUFFIXES]
        pages: dict[str, Post] = {}
        for path in files:
            is_own = parent is not None and path.stem.lower() in _FOLDER_PAGES
            if is_own:
                continue  # it was read as the page of this folder
            imported, post = self.file(path, parent)
            if post is not None:
                pages[path.stem] = post
            yield imported
        for path in names:
            if path.is_dir() and any(file.suffix.lower() in _SUFFIXES for file in path.rglob("*")):
                yield from self.sub_folder(path, parent, pages)

    def sub_folder(
        self, path: Path, parent: Post | None, pages: Mapping[str, Post]
    ) -> Iterator[Imported]:
        if not self.is_tree:
            yield from self.folder(path, None)
            return
        page = pages.get(path.name)
        if page is None:
            own = [file for file in path.iterdir() if file.stem.lower() in _FOLDER_PAGES]
            own = [file for file in own if file.suffix.lower() in _SUFFIXES]
            imported, page = self.file(own[0], parent, path) if own else self.empty(path, parent)
            yield imported
        yield from self.folder(path, page)

    def file(
        self, path: Path, parent: Post | None, folder: Path | None = None
    ) -> tuple[Imported, Post | None]:
        """Import a file; `folder` is the one that it is the page of."""
        try:
            document = read_document(path, name=(folder or path.with_suffix("")).name)
        except (ValueError, OSError) as error:
            return self._said(path, "failed", str(error)), None
        return self._make(path, document, parent)

    def empty(self, folder: Path, parent: Post | None) -> tuple[Imported, Post | None]:
        title = folder.name.replace("-", " ").replace("_", " ").strip().capitalize() or "Folder"
        document = _Document(title, slug_of(folder.name), {}, {})
        return self._make(folder, document, parent)

    def _make(
        self, path: Path, document: _Document, parent: Post | None
    ) -> tuple[Imported, Post | None]:
        there = Post.objects.alive().filter(type=self.type, locale=self.locale, slug=document.slug)
        found = there.filter(parent=parent).first()
        if found is not None:
            return self._said(path, "skipped", f"{found.path} is there already"), found
        try:
            post = self._create(document, parent)
        except CmsError as error:
            return self._said(path, "failed", error.message), None
        return self._said(path, "made", post.path), post

    @transaction.atomic
    def _create(self, document: _Document, parent: Post | None) -> Post:
        fields: JsonObject = {**document.fields, "title": document.title, "slug": document.slug}
        if parent is not None:
            fields["parentId"] = str(parent.pk)

        def fill(empty: PostDocument) -> PostDocument:
            if not document.body:
                return empty
            return document_edits.add_module(empty, type="prose", props={"content": document.body})[
                0
            ]

        return create_post(
            actor=self.actor, type=self.type, locale=self.locale, fields=fields, edit=fill
        )

    def _said(self, path: Path, outcome: Outcome, detail: str) -> Imported:
        return Imported(path.relative_to(self.root).as_posix(), outcome, detail)


def read_document(path: Path, *, name: str) -> _Document:
    """A file as title, slug, fields and rich text. Raises `ValueError` with a sentence, or `OSError`.

    The title is that of the front matter, else the first heading, else the name. A heading of level 1 that
    says the title is taken out of the text: the page shows the title itself.
    """
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"The file is larger than {LARGEST_FILE // 1024 // 1024} MB.")
    try:
        head, text = split_front_matter(path.read_text("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"The file is not UTF-8 (byte {error.start}).") from None
    body = from_markdown(text.replace("\x00", "\ufffd"))
    blocks = children(body)
    heading = next((block for block in blocks if kind(block) == "heading"), None)
    plain = name.replace("-", " ").replace("_", " ").strip().capitalize()
    title = _line(head.get("title")) or _heading_text(heading) or plain or "Untitled"
    opens = heading is not None and heading is blocks[0] and attributes(heading).get("level") == 1
    if opens and _heading_text(heading) == title:
        body = {**body, "content": blocks[1:]} if len(blocks) > 1 else {}
    fields: dict[str, Json] = {}
    for key, field in _FIELDS.items():
        if value := _line(head.get(key)):
            fields[field] = value
    order = head.get("order", head.get("orderIndex"))
    if isinstance(order, int) and not isinstance(order, bool):
        fields["orderIndex"] = order
    return _Document(title, slug_of(_line(head.get("slug")) or name), fields, body)


def _line(value: object) -> str:
    """A scalar of YAML as one line: a title that looks like a number or a date is still a title."""
    if value is None or isinstance(value, bool | dict | list):
        return ""
    return " ".join(str(value).split())


def _heading_text(heading: Node | None) -> str:
    return " ".join(to_text({"type": "doc", "content": [heading]}).split()) if heading else ""


_FENCE = "---"


class BadFrontMatter(ValueError):
    """The text between the fences is no mapping of YAML."""


def split_front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """The front matter, empty where there is none, and the rest of the text.

    Raises `BadFrontMatter` with a sentence. A rule at the top of a document is no front matter: the second
    fence must follow, and a mapping must stand before it.
    """
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text.removeprefix("\ufeff")
    fences = (number for number, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE)
    end = next(fences, None)
    if end is None:
        return {}, text
    try:
        found = yaml.safe_load("".join(lines[1:end]))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadFrontMatter(f"The front matter is not valid YAML: {reason}") from None
    if found is not None and not isinstance(found, dict):
        raise BadFrontMatter("The front matter must be names with values.")
    head = {str(name): value for name, value in (found or {}).items()}
    return head, "".join(lines[end + 1 :])
