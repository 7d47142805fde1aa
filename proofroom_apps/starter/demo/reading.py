"""Reads and validates the demo texts in this folder. An invalid file stops the seed with the file's name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from content.posts.front_matter import split_front_matter
from proofroom.core.json import Json

FOLDER = Path(__file__).parent


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _entry(value: object) -> object:
    """Return the module type and its props, from `- prose` or `- hero: {…}`."""
    if isinstance(value, str):
        return (value, {})
    if isinstance(value, dict) and len(value) == 1:
        ((name, props),) = value.items()
        return (name, {"slug": props} if isinstance(props, str) else props)
    return value


Entry = Annotated[tuple[str, dict[str, object]], BeforeValidator(_entry)]


class DemoPost(_Strict):
    """A demo file. `key` is its name without locale; posts with the same key are translations of each other."""

    key: str
    locale: str
    body: str
    type: Literal["page", "blog", "profile", "company", "testimonial"]
    slug: str
    title: str
    excerpt: str
    meta_title: str = Field("", alias="metaTitle")
    meta_description: str = Field("", alias="metaDescription")
    image: str | None = None
    parent: str | None = None
    order: int = 0
    days_ago: int
    topics: tuple[str, ...] = ()
    custom: dict[str, object] = {}
    modules: tuple[Entry, ...]


class DemoImage(_Strict):
    scene: str
    alt: str


class DemoTerm(_Strict):
    slug: str
    name: str
    children: tuple[DemoTerm, ...] = ()


class DemoItem(_Strict):
    """A menu item: an address, or the key of a post."""

    label: str
    url: str = ""
    post: str = ""
    children: tuple[DemoItem, ...] = ()


class DemoGlobal(_Strict):
    type: str
    label: str
    props: dict[str, object]


class DemoStaged(_Strict):
    """A staged proposal: by an agent in AI Review, otherwise by the editor in Review."""

    post: str
    locale: str
    agent: str = ""
    fields: dict[str, str] = {}
    modules: dict[str, dict[str, str]] = {}


class DemoSite(_Strict):
    images: dict[str, DemoImage]
    topics: dict[str, tuple[DemoTerm, ...]]
    globals: dict[str, DemoGlobal]
    menus: dict[str, dict[str, tuple[DemoItem, ...]]]
    staged: tuple[DemoStaged, ...]


def read_site() -> DemoSite:
    """Return the settings that belong to no single post."""
    return DemoSite.model_validate(yaml.safe_load((FOLDER / "site.yaml").read_text("utf-8")))


def read_posts() -> list[DemoPost]:
    """Return all posts: parents before children, the default language before translations."""
    found: list[DemoPost] = []
    for path in sorted(FOLDER.glob("*/*.md")):
        head, body = split_front_matter(path.read_text("utf-8"))
        key, _, locale = path.stem.rpartition(".")
        values = {**head, "key": key, "locale": locale, "body": body}
        try:
            found.append(DemoPost.model_validate(values))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    parents = {post.key: post.parent for post in found}

    def depth(key: str | None) -> int:
        return 0 if key is None else 1 + depth(parents.get(key))

    # A parent must exist before its children, and the original before its translations.
    return sorted(found, key=lambda post: (post.locale != "en", depth(post.parent), -post.days_ago))


def words(value: Mapping[str, object]) -> dict[str, Json]:
    """Return YAML values as JSON. The files in this folder contain no other types."""
    return dict(value)  # type: ignore[arg-type]  # checked by the services that take it
