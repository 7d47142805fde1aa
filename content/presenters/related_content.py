"""Things that posts refer to, for `include` of the delivery API: each once, in a fixed number of queries.

Only published posts are included, with the fields of lists, their custom fields and the ids of their terms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast
from uuid import UUID

import orjson
from django.db.models import F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from content.models import Post, PostTerm
from content.presenters.delivered_texts import DeliveredContent, TextFormat, present_texts
from content.presenters.posts import Wire, listed_post
from content.store import post_queries
from content.store.linked_posts import (
    MAX_LISTS,
    Linked,
    LinkedPostsRequest,
    load_linked_posts,
)
from content.store.media_usage import GLOBAL, POST
from content.store.post_queries import published_posts
from content.store.referenced_files import file_text, parse_file
from media.models import LIVE, MediaReference
from media.presenters import delivered_asset
from proofroom.core.caching.cache_tags import add_cache_tags, term_tag, type_tag
from proofroom.core.caching.content_tags import depend_on, tag_of_media, tag_of_post
from proofroom.core.database.compiled_queries import CompiledQuery, Row, related_from_row
from proofroom.core.database.json_text import JSONValue, rows_as_text
from proofroom.core.errors import cost_exceeded, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import FieldType, Listing, PostList, modules, taxonomies
from proofroom.definitions.listings import MOST_CARDS, term_list_path
from proofroom.definitions.props import values_in
from proofroom.taxonomies.models import Term

Relation = Literal["media", "terms", "parent", "children", "translations", "modules.posts"]
Tree = dict[Relation, "Tree"]
"""Relations to include, each with the relations of the posts that it leads to."""
WEIGHTS: Final[Mapping[Relation, int]] = {
    "media": 1,
    "terms": 1,
    "parent": 1,
    "translations": 1,
    "children": 5,
    "modules.posts": 5,
}
"""Estimated number of included things per post."""
TO_POSTS: Final[frozenset[Relation]] = frozenset(
    {"parent", "children", "translations", "modules.posts"}
)
MAX_LENGTH: Final = 300
MAX_DEPTH: Final = 3
MAX_COST: Final = 3_000
MAX_POSTS: Final = 1_000
MAX_MEDIA: Final = 5_000
_REFERENCES: Final[frozenset[FieldType]] = frozenset({"post-reference"})


def parse_include(text: str, *, posts: int, parameter: str = "include") -> Tree:
    """Return the relations in a parameter, such as `media,children.media`. `posts`: number of posts of the answer.

    Raises `RuleViolation` for unknown names, and with code `cost_exceeded` for too much.
    """
    if len(text) > MAX_LENGTH:
        raise cost_exceeded(parameter, f"include has at most {MAX_LENGTH} characters.")
    tree: Tree = {}
    for path in text.split(","):
        names = _steps(path.strip())
        if len(names) > MAX_DEPTH:
            raise cost_exceeded(
                parameter, f"include leads at most {MAX_DEPTH} steps away from a post."
            )
        here = tree
        for place, name in enumerate(names):
            is_known = name in WEIGHTS and (place == 0 or name != "modules.posts")
            if not is_known or (place and names[place - 1] in ("media", "terms")):
                raise invalid(
                    parameter,
                    f"include must be a list of: {', '.join(WEIGHTS)}; parent, children, translations and "
                    "modules.posts can be followed by another one but modules.posts, as in children.media.",
                )
            here = here.setdefault(cast(Relation, name), {})
    if _cost(tree) * posts > MAX_COST:
        raise cost_exceeded(parameter, "This includes too much. Ask for fewer posts or relations.")
    return tree


def _steps(path: str) -> list[str]:
    """Return the names in a path. The dot of `modules.posts` belongs to its name."""
    steps: list[str] = []
    for part in path.split("."):
        if part == "posts" and steps[-1:] == ["modules"]:
            steps[-1] = "modules.posts"
        else:
            steps.append(part)
    return steps


def _cost(tree: Tree) -> int:
    return sum(WEIGHTS[name] * (1 + _cost(below)) for name, below in tree.items())


@dataclass(slots=True)
class Included:
    """The included things by id.

    `relations`: by post id, members that name what was included for the post: `taxonomyTermIds`, `children`,
    `translations`. `module_posts`: by id of the module on the post, the ids of the posts that it lists.
    """

    posts: dict[str, Wire] = field(default_factory=dict)
    media: dict[str, JsonObject] = field(default_factory=dict)
    terms: dict[str, Wire] = field(default_factory=dict)
    relations: dict[UUID, Wire] = field(default_factory=lambda: defaultdict(dict))
    module_posts: dict[str, list[str]] = field(default_factory=dict)
    modules: Mapping[UUID, Sequence[JsonObject]] = field(default_factory=dict)
    """The modules of the posts of the answer, as they are stored."""

    def as_wire(self) -> JsonObject:
        return cast(JsonObject, {"posts": self.posts, "media": self.media, "terms": self.terms})

    def add_to(self, post_id: UUID, wire: Wire) -> Wire:
        """Return a post of the answer with its members about what was included."""
        found = {**wire, **self.relations.get(post_id, {})}
        if self.module_posts and "modules" in found:
            modules = found["modules"]
            if isinstance(modules, orjson.Fragment):
                # Answered as they are stored.
                modules = self.modules[post_id]
            found["modules"] = [
                {**module, "posts": self.module_posts[module["postModuleId"]]}
                if module["postModuleId"] in self.module_posts
                else module
                for module in modules
            ]
        return found


_ROOTS: Final = CompiledQuery(
    lambda ids: _with_parts(
        published_posts().filter(pk__in=ids), frozenset({"global_ids", "live_modules"})
    )
)
_ROOTS_WITHOUT_MODULES: Final = CompiledQuery(
    lambda ids: _with_parts(published_posts().filter(pk__in=ids), frozenset({"global_ids"}))
)
_VARIATIONS: Final = CompiledQuery(
    lambda ids: _with_parts(
        Post.objects.running().filter(pk__in=ids), frozenset({"global_ids", "live_modules"})
    )
)


def _with_parts(posts: QuerySet[Any], parts: frozenset[post_queries.Part]) -> QuerySet[Any, Row]:
    columns = ("id", "type", "locale", "parent_id", "translation_group")
    return posts.order_by().values(*columns, **post_queries.part_columns(parts))


_INCLUDED_POSTS: Final = CompiledQuery(
    lambda ids: post_queries.listed_rows(
        published_posts().filter(pk__in=ids).order_by("pk")
    ).annotate(
        group_key=F("translation_group"),
        parent_key=F("parent_id"),
        custom_text=Cast("custom_fields", TextField()),
        terms_text=rows_as_text(
            PostTerm.objects.filter(post=OuterRef("pk"))
            .order_by("term_id")
            .values(entry=JSONValue("term_id"))
        ),
    )
)
_TERM_COLUMNS: Final = ("id", "taxonomy", "slug", "name", "locale", "parent_id")
_TERMS: Final = CompiledQuery(
    lambda ids, names: (
        PostTerm.objects.filter(post__in=ids, term__taxonomy__in=names)
        .order_by("term_id")
        .values("post_id", *(f"term__{name}" for name in _TERM_COLUMNS))
    )
)
_FILES: Final = CompiledQuery(
    lambda roots, others, shared: (
        MediaReference.objects.filter(
            Q(holder_kind=POST, holder_id__in=roots)
            | Q(holder_kind=POST, holder_id__in=others, path__startswith="post.")
            | Q(holder_kind=GLOBAL, holder_id__in=shared),
            layer=LIVE,
        )
        .order_by("asset_id")
        # As JSON text, because most files are used by several posts, and each is parsed once.
        .values("holder_id", "asset_id", file=file_text())[: MAX_MEDIA + 1]
    )
)
_NO_ID: Final = UUID(int=0)
"""In place of ids where there are none, because a statement with an empty list is not sent."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A post whose relations are loaded. `modules` only for posts of the answer.

    `content_id`: the variation that is answered in the place of the post, or the post itself.
    """

    id: UUID
    content_id: UUID
    type: str
    locale: str
    parent_id: UUID | None
    group: UUID
    is_root: bool = False
    modules: Sequence[JsonObject] = ()
    global_ids: Sequence[str] = ()


class _Loader:
    def __init__(self) -> None:
        self.found = Included()
        self.nodes: dict[UUID, _Node] = {}
        self.media_of: dict[UUID, None] = {}
        self.terms_of: dict[UUID, None] = {}
        self.sources: dict[str, str] = {}

    def load(self, nodes: Collection[_Node], tree: Tree) -> None:
        """Load the posts that the nodes lead to, and the posts that these lead to."""
        if "media" in tree:
            self.media_of.update(dict.fromkeys(node.content_id for node in nodes))
        if "terms" in tree:
            self.terms_of.update(dict.fromkeys(node.content_id for node in nodes))
        targets: dict[Relation, list[UUID]] = {}
        if "parent" in tree:
            targets["parent"] = [node.parent_id for node in nodes if node.parent_id is not None]
        if "children" in tree:
            targets["children"] = self._children(nodes)
        if "translations" in tree:
            targets["translations"] = self._translations(nodes)
        if "modules.posts" in tree:
            targets["modules.posts"] = self._module_posts(nodes)
        self._load_posts([id_ for ids in targets.values() for id_ in ids])
        if "modules.posts" in targets:
            # Cards show the images of their posts.
            self.media_of.update(
                dict.fromkeys(id_ for id_ in targets["modules.posts"] if id_ in self.nodes)
            )
        for name, ids in targets.items():
            if tree[name]:
                below = {id_: self.nodes[id_] for id_ in ids if id_ in self.nodes}
                self.load(below.values(), tree[name])

    def _load_posts(self, ids: Iterable[UUID]) -> None:
        missing = {id_ for id_ in ids if str(id_) not in self.found.posts}
        if len(missing) + len(self.found.posts) > MAX_POSTS:
            raise cost_exceeded(
                "include",
                f"This would include more than {MAX_POSTS:,} posts. Ask for fewer posts a page.",
            )
        for row in _INCLUDED_POSTS.rows(list(missing)):
            wire = listed_post(row)
            wire["customFields"] = orjson.loads(row["custom_text"])
            self.sources[str(row["id"])] = row["custom_text"]
            wire["taxonomyTermIds"] = orjson.loads(row["terms_text"])
            self.found.posts[str(row["id"])] = wire
            self.nodes.setdefault(
                row["id"],
                _Node(
                    row["id"],
                    row["id"],
                    row["type"],
                    row["locale"],
                    row["parent_key"],
                    row["group_key"],
                ),
            )
            depend_on(tag_of_post(row["id"]))

    def _children(self, nodes: Collection[_Node]) -> list[UUID]:
        children: dict[UUID, list[str]] = {node.id: [] for node in nodes}
        # A post above has the type and the language of its children. A new child is not in the answer yet.
        add_cache_tags(*(type_tag(node.type, node.locale) for node in nodes))
        rows = published_posts().filter(parent__in=list(children))
        listed = list(
            rows.order_by("parent_id", "order_index", "id").values_list("parent_id", "pk")[
                : MAX_POSTS + 1
            ]
        )
        for parent_id, pk in listed:
            children[parent_id].append(str(pk))
        for id_, ids in children.items():
            self.found.relations[id_]["children"] = ids
        return [pk for _parent_id, pk in listed]

    def _translations(self, nodes: Collection[_Node]) -> list[UUID]:
        groups = {node.group for node in nodes}
        rows = published_posts().filter(translation_group__in=groups).order_by("locale")
        by_group: dict[UUID, list[tuple[UUID, str, str]]] = defaultdict(list)
        for group, pk, locale, path in rows.values_list(
            "translation_group", "pk", "locale", "path"
        ):
            by_group[group].append((pk, locale, path))
        found: list[UUID] = []
        for node in nodes:
            others = [one for one in by_group[node.group] if one[0] != node.id]
            self.found.relations[node.id]["translations"] = [
                {"id": str(pk), "locale": locale, "url": path} for pk, locale, path in others
            ]
            found += [pk for pk, _locale, _path in others]
        return found

    def _module_posts(self, nodes: Collection[_Node]) -> list[UUID]:
        """Find the posts that modules list, chosen ones and the newest, as the pages of the site show them."""
        needs: dict[str, dict[str, _ModulePosts]] = defaultdict(dict)
        for node in nodes:
            for module in node.modules:
                if (need := _ModulePosts.of(module)) is not None:
                    needs[node.locale][str(module["postModuleId"])] = need
        found: dict[UUID, None] = {}
        for locale, by_module in needs.items():
            lists = {one: None for need in by_module.values() for one in need.lists}
            if len(lists) > MAX_LISTS:
                raise cost_exceeded(
                    "include", f"Modules of these posts have more than {MAX_LISTS} different lists."
                )
            # A new post of a list is not in the answer yet.
            add_cache_tags(*(type_tag(one.type, locale) for one in lists))
            chosen = {id_: None for need in by_module.values() for id_ in need.post_ids}
            linked = load_linked_posts(
                LinkedPostsRequest(locale, post_ids=list(chosen), lists=list(lists))
            )
            for module_id, need in by_module.items():
                ids = need.ids_in(linked)
                self.found.module_posts[module_id] = [str(id_) for id_ in ids]
                found.update(dict.fromkeys(ids))
        return list(found)

    def load_terms(self) -> None:
        if not self.terms_of:
            return
        terms: dict[UUID, list[str]] = {id_: [] for id_ in self.terms_of}
        for row in _TERMS.rows(list(self.terms_of), sorted(taxonomies.names())):
            node, term_id = self.nodes[row["post_id"]], row["term__id"]
            terms[row["post_id"]].append(str(term_id))
            if str(term_id) not in self.found.terms:
                add_cache_tags(term_tag(term_id))
                if (term := related_from_row(Term, row, "term")) is not None:
                    self.found.terms[str(term_id)] = term_wire(term, node.type, node.locale)
        for id_, ids in terms.items():
            node = self.nodes[id_]
            if node.is_root:
                self.found.relations[node.id]["taxonomyTermIds"] = ids

    def load_media(self) -> None:
        """Load the files of posts, described in the language of the first post that uses them.

        An included post has no modules, so only the files of its fields count.
        """
        if not self.media_of:
            return
        roots = [id_ for id_ in self.media_of if self.nodes[id_].is_root]
        others = [id_ for id_ in self.media_of if not self.nodes[id_].is_root]
        locales = {id_: self.nodes[id_].locale for id_ in self.media_of}
        for id_ in roots:
            for shared in self.nodes[id_].global_ids:
                locales.setdefault(UUID(shared), self.nodes[id_].locale)
        shared_ids = [id_ for id_ in locales if id_ not in self.media_of]
        listed = _FILES.rows(*(ids or [_NO_ID] for ids in (roots, others, shared_ids)))
        if len(listed) > MAX_MEDIA:
            raise cost_exceeded(
                "include", f"These posts use more than {MAX_MEDIA:,} files. Ask for fewer posts."
            )
        places = {id_: place for place, id_ in enumerate(locales)}
        for use in sorted(listed, key=lambda use: places[use["holder_id"]]):
            if (asset_id := str(use["asset_id"])) in self.found.media:
                continue
            depend_on(tag_of_media(use["asset_id"]))
            asset = parse_file(use["file"])
            self.found.media[asset_id] = delivered_asset(asset, locales[use["holder_id"]])


def load_included(
    ids: Sequence[UUID],
    tree: Tree,
    text_format: TextFormat = "json",
    modules_of: Mapping[UUID, str] | None = None,
    variations: Mapping[UUID, UUID] | None = None,
) -> Included:
    """Return what published posts lead to, with rich text in a format.

    `modules_of`: the stored modules of all posts as JSON, if they were read already. `variations`: the variations
    that are answered in the place of posts, by the id of the post. The number of queries depends on the relations,
    not on the posts.
    """
    loader = _Loader()
    has_modules = "modules.posts" in tree
    known = modules_of or {}
    statement = _ROOTS if has_modules and not known else _ROOTS_WITHOUT_MODULES
    rows = {row["id"]: row for row in statement.rows(ids)}
    shown = variations or {}
    contents = {row["id"]: row for row in (_VARIATIONS.rows([*shown.values()]) if shown else ())}
    roots: list[_Node] = []
    for id_ in ids:
        if (row := rows.get(id_)) is not None:
            content = contents.get(shown.get(id_), row)
            node = _Node(
                row["id"],
                content["id"],
                row["type"],
                row["locale"],
                row["parent_id"],
                row["translation_group"],
                is_root=True,
                modules=orjson.loads(content.get("live_modules") or known.get(id_, "[]"))
                if has_modules
                else (),
                global_ids=orjson.loads(content["global_ids"]),
            )
            # A new translation tells the posts that it translates.
            depend_on(tag_of_post(node.id))
            roots.append(node)
            loader.nodes[node.id] = loader.nodes[node.content_id] = node
    loader.found.modules = {node.id: node.modules for node in roots}
    loader.load(roots, tree)
    loader.load_terms()
    loader.load_media()
    present_texts(
        [
            DeliveredContent(UUID(id_), wire["type"], wire, loader.sources[id_])
            for id_, wire in loader.found.posts.items()
            if wire["customFields"]
        ],
        text_format,
    )
    for id_, members in loader.found.relations.items():
        if (wire := loader.found.posts.get(str(id_))) is not None:
            wire |= members
    return loader.found


def term_wire(term: Term, post_type: str, locale: str) -> Wire:
    """Return a term with the path of its list, for the type and locale of a post that has it."""
    return {
        "id": str(term.pk),
        "taxonomy": term.taxonomy,
        "slug": term.slug,
        "name": term.name,
        "parentId": str(term.parent_id) if term.parent_id else None,
        "url": term_list_path(post_type, locale, term.taxonomy, term.slug, term.locale) or None,
    }


@dataclass(frozen=True, slots=True)
class _ModulePosts:
    """The posts that a module shows: lists of the newest, or else chosen ones, perhaps of one type only."""

    lists: tuple[PostList, ...]
    post_ids: tuple[UUID, ...]
    type: str

    @classmethod
    def of(cls, module: JsonObject) -> _ModulePosts | None:
        """Return the posts of a module; None if it refers to no posts."""
        definition = modules.get(str(module["type"]))
        if definition is None:
            return None
        overrides = cast("Mapping[str, Json]", module["overrides"] or {})
        props = {**cast("Mapping[str, Json]", module["props"] or {}), **overrides}
        lists = tuple(definition.lists(props))
        references = [
            value for _name, _kind, value in values_in(definition.Props, props, _REFERENCES)
        ]
        is_listing = issubclass(definition, Listing)
        if not lists and not references and not is_listing:
            return None
        ids = (parse_uuid(value) for value in references if isinstance(value, str))
        return cls(
            lists,
            () if lists else tuple(id_ for id_ in ids if id_ is not None)[:MOST_CARDS],
            definition.post_type if issubclass(definition, Listing) else "",
        )

    def ids_in(self, linked: Linked) -> list[UUID]:
        rows = [row for one in self.lists for row in linked.listed.get(one, ())]
        chosen = [linked.referenced.get(str(id_)) for id_ in self.post_ids]
        rows += [row for row in chosen if row is not None and self.type in ("", row["type"])]
        # Two translations of one post lead to the same row.
        return list(dict.fromkeys(row["id"] for row in rows))
