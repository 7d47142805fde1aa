"""Stores the items of a source through the services of the site: new posts as drafts, changes of others in Review."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, cast
from urllib.parse import urldefrag
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from content.document import ModuleDocument, PostDocument
from content.layers import open_layers
from content.layers.stage import stage
from content.models import Layer, Post
from content.post_fields import EXCERPT_MAX, META_MAX, TITLE_MAX
from content.posts import document_edits
from content.posts.create import create_post, empty_document, new_row
from content.posts.edit import edit_post
from content.rules import check_changes
from media.models import Asset
from media.presenters import url_of
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import slug_of
from proofroom.definitions import (
    ModuleProps,
    find_module,
    find_post_type,
    own_scope,
    props_of,
    taxonomies,
    validate_props,
)
from proofroom.definitions.richtext.links import safe_href
from proofroom.imports.content_source import ImportOptions, Reader
from proofroom.imports.items import (
    MediaItem,
    MenuEntryItem,
    MenuItem,
    PostItem,
    RedirectItem,
    Remark,
    TermItem,
)
from proofroom.imports.media_files import FileProblem, store_file
from proofroom.imports.models import ImportedObject
from proofroom.imports.plan import ImportPlan, PlannedPost
from proofroom.menus.items import LABEL_MAX, MAX_MENU_DEPTH
from proofroom.menus.models import Menu
from proofroom.menus.services import change_menu, create_menu
from proofroom.taxonomies.models import NAME_MAX, SLUG_MAX, Term
from proofroom.taxonomies.services import create_term
from seo.models import NewRedirect, Redirect
from seo.redirect_paths import clean_from, clean_to, key_of, path_in
from seo.services.redirects import create_redirect

Outcome = Literal["created", "updated", "staged", "unchanged", "skipped", "failed"]
_LIMITS: Final = {
    "title": TITLE_MAX,
    "excerpt": EXCERPT_MAX,
    "metaTitle": TITLE_MAX,
    "metaDescription": META_MAX,
}
_SLUG_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Written:
    """What became of an item."""

    outcome: Outcome
    place: str
    message: str = ""
    object_id: UUID | None = None
    remarks: tuple[Remark, ...] = ()
    kind: str = ""
    """What is counted, where it is not the kind of the stage: a file of a post."""


def hash_of(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass
class ImportWriter:
    """Writes the items of one run. Without `is_dry_run`, each call of `write_…` belongs into a transaction."""

    source: str
    reader: Reader
    plan: ImportPlan
    options: ImportOptions
    actor: Actor
    is_dry_run: bool
    _assets: dict[str, Asset | None] = field(default_factory=dict)
    _problems: dict[str, str] = field(default_factory=dict)

    # Files, before the transaction of what uses them.

    def load_file(self, item: MediaItem) -> Written:
        """Put a file into the library, unless it came before."""
        known = self._known_asset(item.address)
        if known is not None:
            return Written("unchanged", item.address, "", known.pk)
        if self.is_dry_run:
            if self.reader.files.can_read(item.address):
                return Written("created", item.address)
            return Written("failed", item.address, _("There is no such file in the folder."))
        try:
            asset, is_new = store_file(
                self.reader.files,
                item.address,
                actor=self.actor,
                alt_text=item.alt_text,
                description=item.description,
            )
        except FileProblem as error:
            self._assets[item.address] = None
            self._problems[item.address] = str(error)
            return Written("failed", item.address, str(error))
        self._assets[item.address] = asset
        self._remember("file", item.address, asset.pk, {})
        return Written("created" if is_new else "unchanged", item.address, "", asset.pk)

    def load_files_of(self, item: PostItem) -> list[Written]:
        """Put the files that a post names into the library."""
        found = _NamedFiles()
        if item.featured_image:
            found.files[item.featured_image] = ""
        for module in item.modules:
            found.add_props(find_module(module.type).Props, module.props)
        custom = item.fields.get("customFields")
        if isinstance(custom, Mapping):
            found.add_props(find_post_type(item.type).CustomFields, custom)
        keys = {
            self.reader.file_key(address, item.base): alt for address, alt in found.files.items()
        }
        keys |= {self.reader.linked_file_key(link, item.base): "" for link in found.links}
        written: list[Written] = []
        for key, alt_text in keys.items():
            if key and key not in self._assets:
                done = self.load_file(self.plan.files.get(key) or MediaItem(key, alt_text))
                if done.outcome != "unchanged":
                    written.append(replace(done, kind="files"))
        return written

    def _known_asset(self, address: str) -> Asset | None:
        if address not in self._assets:
            row = self._imported("file", address)
            found = Asset.objects.filter(pk=row.object_id).first() if row else None
            if found is not None:
                self._assets[address] = found
        return self._assets.get(address)

    # Terms, posts, menus and redirects.

    def write_term(self, item: TermItem) -> Written:
        if taxonomies.get(item.taxonomy) is None:
            text = _("This site has no taxonomy %(name)s.") % {"name": item.taxonomy}
            return Written("skipped", item.name, text)
        source_id = f"{item.taxonomy}:{item.source_id}"
        known = self._imported("term", source_id)
        if known is not None and Term.objects.filter(pk=known.object_id).exists():
            return Written("unchanged", item.name, "", known.object_id)
        slug = slug_of(item.slug or item.name)[:SLUG_MAX].strip("-")
        locale = self.options.site_locale
        there = Term.objects.filter(taxonomy=item.taxonomy, slug=slug, locale=locale).first()
        if there is not None:
            self._remember("term", source_id, there.pk, {})
            return Written("unchanged", item.name, _("It is here already."), there.pk)
        if self.is_dry_run:
            return Written("created", item.name)
        parent = None
        definition = taxonomies.get(item.taxonomy)
        if item.parent_id and definition is not None and definition.hierarchical:
            parent = self._imported("term", f"{item.taxonomy}:{item.parent_id}")
        name = " ".join(item.name.split())[:NAME_MAX].strip() or slug
        try:
            with transaction.atomic():
                term = create_term(
                    actor=self.actor,
                    taxonomy=item.taxonomy,
                    name=name,
                    slug=slug,
                    locale=locale,
                    parent_id=parent.object_id if parent else None,
                )
        except CmsError as error:
            return Written("failed", item.name, error.message)
        self._remember("term", source_id, term.pk, {})
        return Written("created", item.name, "", term.pk)

    def write_post(self, item: PostItem) -> Written:
        """Create, change or leave a post. What the rules refuse is an outcome; nothing of it is stored then."""
        planned = self.plan.posts[item.source_id]
        content = _PostContent(self, item, planned)
        try:
            with transaction.atomic():
                return content.write()
        except CmsError as error:
            details = " ".join(
                f"{path}: {text}" for path, texts in error.details.items() for text in texts[:1]
            )
            message = error.message if error.message in details or not details else details
            return Written("failed", item.place, message[:2000], None, item.remarks)

    def write_menu(self, item: MenuItem) -> Written:
        entries = self._menu_entries(item.entries, 1)
        known = self._imported("menu", item.source_id)
        menu = Menu.objects.filter(pk=known.object_id).first() if known else None
        digest = hash_of(entries)
        if menu is not None and known is not None:
            if known.data.get("hash") == digest:
                return Written("unchanged", item.name, "", menu.pk)
            if not self.options.live:
                text = _(
                    "It changed in the source. Menus are changed only where live changes are allowed."
                )
                return Written("skipped", item.name, text, menu.pk)
        slug = slug_of(item.slug or item.name)
        slug = "".join(char for char in slug if char.isascii())[:90].strip("-") or "menu"
        if menu is None and Menu.objects.filter(slug=slug, locale=item.locale).exists():
            slug = f"{slug}-imported"
            if Menu.objects.filter(slug=slug, locale=item.locale).exists():
                text = _("There is a menu of this name already.")
                return Written("skipped", item.name, text)
        if self.is_dry_run:
            return Written("updated" if menu else "created", item.name)
        try:
            with transaction.atomic():
                if menu is not None:
                    change_menu(menu_id=menu.pk, actor=self.actor, items=entries)
                    outcome: Outcome = "updated"
                else:
                    menu = create_menu(
                        actor=self.actor,
                        name=item.name[:200] or slug,
                        slug=slug,
                        locale=item.locale,
                        items=entries,
                    )
                    outcome = "created"
        except CmsError as error:
            return Written("failed", item.name, error.message)
        self._remember("menu", item.source_id, menu.pk, {"hash": digest})
        return Written(outcome, item.name, "", menu.pk)

    def _menu_entries(self, entries: Sequence[MenuEntryItem], depth: int) -> list[Json]:
        found: list[Json] = []
        for entry in entries:
            below = self._menu_entries(entry.entries, depth + 1) if depth < MAX_MENU_DEPTH else []
            label = "".join(char for char in entry.label if char.isprintable()).strip()[:LABEL_MAX]
            post_id = self.post_id(entry.post_id) if entry.post_id else None
            if post_id is not None:
                found.append(
                    {"label": label, "type": "post", "postId": str(post_id), "children": below}
                )
                continue
            planned = self.plan.posts.get(entry.post_id) if entry.post_id else None
            address = planned.path if planned is not None else self.link(entry.address, "")[0]
            url = safe_href(address) or ""
            if label or below:
                label = label or address or "…"
                found.append({"label": label, "type": "custom", "url": url, "children": below})
        return found

    def write_redirect(self, item: RedirectItem) -> Written:
        planned = self.plan.posts.get(item.to_post) if item.to_post else None
        if planned is not None and planned.post_id is None and not self.is_dry_run:
            return Written("skipped", item.from_path, _("Its post was not imported."))
        target = planned.path if planned is not None else self.link(item.to_address, "")[0]
        place = f"{item.from_path} → {target}"
        try:
            from_path = clean_from(item.from_path)
            if from_path == path_in(clean_to(target)):
                return Written("unchanged", place)
            if Redirect.objects.filter(from_key=key_of(from_path)).exists():
                return Written("unchanged", place)
            if self.is_dry_run:
                return Written("created", place)
            with transaction.atomic():
                row = create_redirect(
                    actor=self.actor, redirect=NewRedirect(from_path=from_path, to_path=target)
                )
        except CmsError as error:
            return Written("skipped", place, error.message)
        return Written("created", place, "", row.pk)

    # What content names.

    def link(self, address: str, base: str) -> tuple[str, bool]:
        """The address here that an address of the source becomes, and whether it leads nowhere here."""
        fragment = urldefrag(address)[1]
        key = self.reader.link_key(address, base)
        path = self.plan.path_of(key) if key else ""
        if path:
            return (f"{path}#{fragment}" if fragment else path), False
        file_key = self.reader.linked_file_key(address, base)
        asset = self._known_asset(file_key) if file_key else None
        if asset is not None:
            return url_of(asset.file.name), False
        return address, bool(key) and self.reader.is_own(address, base)

    def asset(self, address: str, base: str) -> Asset | None:
        key = self.reader.file_key(address, base)
        return self._known_asset(key) if key else None

    def post_id(self, source_id: str) -> UUID | None:
        planned = self.plan.posts.get(source_id)
        return planned.post_id if planned is not None else None

    def term_id(self, taxonomy: str, source_id: str) -> UUID | None:
        row = self._imported("term", f"{taxonomy}:{source_id}")
        return row.object_id if row else None

    # What came from where.

    def _imported(self, kind: str, source_id: str) -> ImportedObject | None:
        return ImportedObject.objects.filter(
            source=self.source, scope=self.reader.scope, kind=kind, key=_key(source_id)
        ).first()

    def _remember(self, kind: str, source_id: str, object_id: UUID, data: JsonObject) -> None:
        if self.is_dry_run:
            return
        ImportedObject.objects.update_or_create(
            source=self.source,
            scope=self.reader.scope,
            kind=kind,
            key=_key(source_id),
            defaults={"source_id": source_id, "object_id": object_id, "data": data},
        )


def _key(source_id: str) -> str:
    return hashlib.sha256(source_id.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass
class _NamedFiles:
    """The addresses that content names: of files with what is said of each, and of links."""

    files: dict[str, str] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)

    def add_props(self, props: type[ModuleProps], values: Mapping[str, Json]) -> None:
        known = props_of(props)
        for name, value in values.items():
            prop = known.get(name)
            if prop is None:
                continue
            if prop.kind == "media" and isinstance(value, str) and value:
                self.files.setdefault(value, "")
            elif prop.kind == "link" and isinstance(value, str) and value:
                self.links.add(value)
            elif prop.kind == "richtext" and isinstance(value, Mapping):
                self.add_node(value)
            elif prop.nested is not None:
                for one in value if isinstance(value, list) else [value]:
                    if isinstance(one, Mapping):
                        self.add_props(prop.nested, one)

    def add_node(self, node: Mapping[str, Json]) -> None:
        attributes = node.get("attrs")
        if node.get("type") == "image" and isinstance(attributes, Mapping):
            self.files.setdefault(str(attributes.get("src")), str(attributes.get("alt") or ""))
        marks = node.get("marks")
        for mark in marks if isinstance(marks, list) else ():
            attributes = mark.get("attrs") if isinstance(mark, Mapping) else None
            if isinstance(attributes, Mapping) and isinstance(attributes.get("href"), str):
                self.links.add(str(attributes["href"]))
        content = node.get("content")
        for child in content if isinstance(content, list) else ():
            if isinstance(child, Mapping):
                self.add_node(child)


@dataclass
class _PostContent:
    """One post of the source on its way into the site."""

    writer: ImportWriter
    item: PostItem
    planned: PlannedPost
    remarks: list[Remark] = field(default_factory=list)
    dead_links: list[str] = field(default_factory=list)
    missing_files: list[str] = field(default_factory=list)

    def write(self) -> Written:
        self.remarks += self.item.remarks
        fields = self._fields()
        modules = self._modules()
        terms = self._terms()
        self._report_addresses()
        known = self.writer._imported("post", self.item.source_id)
        if known is not None:
            post = Post.objects.filter(pk=known.object_id).first()
            if post is not None and post.deleted_at is not None:
                return self._written("skipped", _("The post is in the trash."), post)
            if post is not None:
                return self._update(post, known.data, fields, modules, terms)
        if self.planned.post_id is not None and not self.planned.is_imported:
            post = Post.objects.alive().filter(pk=self.planned.post_id).first()
            if post is not None:
                return self._update(post, None, fields, modules, terms)
        return self._create(fields, modules, terms)

    @property
    def _source_slug(self) -> str:
        return slug_of(self.item.slug or self.item.title)

    def _written(self, outcome: Outcome, message: str, post: Post | None) -> Written:
        return Written(
            outcome, self.item.place, message, post.pk if post else None, tuple(self.remarks)
        )

    # What the post is to hold.

    def _fields(self) -> JsonObject:
        item = self.item
        fields: JsonObject = {"title": item.title, **item.fields}
        for name, most in _LIMITS.items():
            value = fields.get(name)
            if isinstance(value, str):
                line = value if name == "excerpt" else " ".join(value.split())
                fields[name] = line[:most].rstrip()
                if len(line) > most:
                    text = _("%(field)s is longer than %(most)s characters; the rest was cut off.")
                    self._remark(text % {"field": name, "most": most})
        custom = fields.get("customFields")
        if isinstance(custom, Mapping):
            fields["customFields"] = self._custom_fields(custom)
        if item.featured_image:
            asset = self.writer.asset(item.featured_image, item.base)
            if asset is not None:
                fields["featuredMediaId"] = str(asset.pk)
            else:
                self.missing_files.append(item.featured_image)
        if self.planned.parent_id is not None:
            parent_id = self.writer.post_id(self.planned.parent_id)
            if parent_id is not None:
                fields["parentId"] = str(parent_id)
            elif not self.writer.is_dry_run:
                self._remark(_("Its parent could not be imported: it stands at the top."))
        return fields

    def _custom_fields(self, values: Mapping[str, Json]) -> JsonObject:
        definition = find_post_type(self.item.type)
        known = props_of(definition.CustomFields)
        for name in values:
            if name not in known:
                text = _("The post type %(type)s has no field %(name)s; its value was left out.")
                self._remark(text % {"type": self.item.type, "name": name})
        kept = {name: value for name, value in values.items() if name in known}
        return self._resolve(definition.CustomFields, kept)

    def _modules(self) -> list[tuple[str, JsonObject]]:
        found: list[tuple[str, JsonObject]] = []
        for module in self.item.modules:
            props = self._resolve(find_module(module.type).Props, module.props)
            if module.type == "gallery":
                items = cast("list[JsonObject]", props.get("items") or [])
                props["items"] = cast("Json", [one for one in items if one.get("imageId")])
                if not props["items"]:
                    continue
            found.append((module.type, props))
        return found

    def _terms(self) -> list[str]:
        uses = {use.slug: use for use in find_post_type(self.item.type).taxonomies}
        by_taxonomy: dict[str, list[str]] = {}
        for taxonomy, source_id in self.item.terms:
            term_id = self.writer.term_id(taxonomy, source_id)
            if term_id is not None and str(term_id) not in by_taxonomy.get(taxonomy, ()):
                by_taxonomy.setdefault(taxonomy, []).append(str(term_id))
        found: list[str] = []
        for taxonomy, ids in by_taxonomy.items():
            use = uses.get(taxonomy)
            if use is None:
                text = _("Posts of type %(type)s have no %(taxonomy)s; %(number)s left out.")
            elif use.max_selections is not None and len(ids) > use.max_selections:
                text = _(
                    "Posts of type %(type)s have at most %(most)s %(taxonomy)s; %(number)s left out."
                )
            else:
                found += ids
                continue
            most = (use.max_selections or 0) if use else 0
            found += ids[:most]
            values = {"type": self.item.type, "taxonomy": taxonomy, "most": most}
            self._remark(text % {**values, "number": len(ids) - most})
        return found

    # Addresses of the source become those of the site.

    def _resolve(self, props: type[ModuleProps], values: Mapping[str, Json]) -> JsonObject:
        known = props_of(props)
        found: JsonObject = {}
        for name, value in values.items():
            prop = known.get(name)
            if prop is None:
                continue
            if prop.kind == "media" and isinstance(value, str):
                asset = self.writer.asset(value, self.item.base)
                if asset is None and value:
                    self.missing_files.append(value)
                found[name] = str(asset.pk) if asset is not None else None
            elif prop.kind == "link" and isinstance(value, str) and value:
                found[name] = safe_href(self._link(value)) or ""
            elif prop.kind == "post-reference" and isinstance(value, str):
                post_id = self.writer.post_id(value)
                found[name] = str(post_id) if post_id is not None else None
            elif prop.kind == "richtext" and isinstance(value, Mapping):
                found[name] = {**value, "content": cast("Json", self._nodes(value))}
            elif prop.nested is not None and isinstance(value, list):
                found[name] = [
                    self._resolve(prop.nested, one) for one in value if isinstance(one, Mapping)
                ]
            elif prop.nested is not None and isinstance(value, Mapping):
                found[name] = self._resolve(prop.nested, value)
            else:
                found[name] = value
        return found

    def _nodes(self, node: Mapping[str, Json]) -> list[Json]:
        content = node.get("content")
        found: list[Json] = []
        for child in content if isinstance(content, list) else ():
            if not isinstance(child, Mapping):
                continue
            made: JsonObject = dict(child)
            marks = child.get("marks")
            if isinstance(marks, list):
                made["marks"] = [self._mark(mark) for mark in marks]
            if child.get("type") == "image":
                image = self._image(made)
                if image is not None:
                    found.append(image)
                continue
            if "content" in child:
                made["content"] = self._nodes(child)
            found.append(made)
        return found

    def _mark(self, mark: Json) -> Json:
        if not isinstance(mark, Mapping) or mark.get("type") != "link":
            return mark
        attrs = cast("Mapping[str, Json]", mark.get("attrs") or {})
        before = str(attrs.get("href") or "")
        return {**mark, "attrs": {**attrs, "href": safe_href(self._link(before)) or before}}

    def _link(self, address: str) -> str:
        found, is_dead = self.writer.link(address, self.item.base)
        if is_dead and address not in self.dead_links:
            self.dead_links.append(address)
        return found

    def _image(self, node: JsonObject) -> JsonObject | None:
        """The picture with its address here; its description where its file did not come in."""
        attrs = dict(cast("Mapping[str, Json]", node["attrs"]))
        address = str(attrs["src"])
        asset = self.writer.asset(address, self.item.base)
        if asset is not None:
            return {**node, "attrs": {**attrs, "src": url_of(asset.file.name)}}
        self.missing_files.append(address)
        if address.startswith(("http://", "https://")) or self.writer.is_dry_run:
            return node
        alt = str(attrs.get("alt") or "")
        if not alt:
            return None
        text: JsonObject = {"type": "text", "text": alt}
        return {**text, "marks": node["marks"]} if "marks" in node else text

    def _report_addresses(self) -> None:
        for address in self.dead_links[:50]:
            self._remark(
                _("The link to %(address)s leads to no post of the source.")
                % {"address": address[:300]}
            )
        if self.writer.is_dry_run:
            return
        for address in dict.fromkeys(self.missing_files[:50]):
            key = self.writer.reader.file_key(address, self.item.base)
            if key not in self.writer._problems:  # else the file has its own line
                self._remark(
                    _("The picture %(address)s was not imported.") % {"address": address[:300]}
                )

    def _remark(self, message: str) -> None:
        self.remarks.append(Remark(self.item.place, message))

    # What is written.

    def _create(
        self, fields: JsonObject, modules: list[tuple[str, JsonObject]], terms: list[str]
    ) -> Written:
        made = [_new_module(type, props) for type, props in modules]
        wanted: JsonObject = {
            **fields,
            "slug": self.planned.slug,
            "taxonomyTermIds": cast("Json", terms),
        }
        if self.writer.is_dry_run:
            wanted.pop("parentId", None)
            self._check(wanted, made)
            return self._written("created", self.planned.path, None)
        post = self._create_at_free_slug(wanted, made)
        self.planned.post_id = post.pk
        self.planned.path, self.planned.slug = post.path, post.slug
        self._remember(post, fields, made, terms)
        return self._written("created", post.path, post)

    def _create_at_free_slug(self, fields: JsonObject, made: list[ModuleDocument]) -> Post:
        slug = str(fields["slug"])
        source = self._source_of_translation()
        for number in range(1, _SLUG_TRIES + 1):
            wanted = {**fields, "slug": slug if number == 1 else f"{slug}-{number}"}
            try:
                with transaction.atomic():
                    post = create_post(
                        actor=self.writer.actor,
                        type=self.item.type,
                        locale=self.item.locale,
                        fields=wanted,
                        edit=lambda empty: replace(empty, modules=tuple(made)),
                        translation_of=source,
                    )
            except RuleViolation as error:
                if "slug" not in error.details or number == _SLUG_TRIES:
                    raise
                continue
            if number > 1:
                text = _("The address %(path)s is taken; it stands at %(new)s.")
                self._remark(text % {"path": self.planned.path, "new": post.path})
            return post
        raise AssertionError

    def _source_of_translation(self) -> Post | None:
        """The post of the same group that came first, in another language."""
        first = self.writer.plan.groups.get(self.item.translation_group)
        if first is None or first == self.item.source_id:
            return None
        source_id = self.writer.post_id(first)
        source = Post.objects.alive().filter(pk=source_id).first() if source_id else None
        if source is None or source.locale == self.item.locale or source.type != self.item.type:
            return None
        group = Post.objects.alive().filter(translation_group=source.translation_group)
        return None if group.filter(locale=self.item.locale).exists() else source

    def _check(self, fields: JsonObject, made: list[ModuleDocument]) -> None:
        """Ask the rules, and store nothing."""
        post = new_row(self.writer.actor, self.item.type, self.item.locale, None)
        empty = empty_document(post)
        document = replace(document_edits.patch_fields(empty, fields), modules=tuple(made))
        check_changes(post=post, before=empty, after=document, actor=self.writer.actor)

    def _update(
        self,
        post: Post,
        data: Mapping[str, Json] | None,
        fields: JsonObject,
        modules: list[tuple[str, JsonObject]],
        terms: list[str],
    ) -> Written:
        """Bring what changed in the source since the last time; what people changed here meanwhile stays."""
        writer = self.writer
        self.planned.post_id, self.planned.path = post.pk, post.path
        present = open_layers(post)
        base = present.live if writer.options.live else present.review.document
        before = cast("Mapping[str, str]", (data or {}).get("fields") or {})
        if data is None:
            # It stands here already, and its place is what it was found by.
            fields = {name: value for name, value in fields.items() if name != "parentId"}
        changed = {
            name: value for name, value in fields.items() if before.get(name) != hash_of(value)
        }
        if data is not None and data.get("slug") != self._source_slug:
            changed["slug"] = self._source_slug
        if terms if data is None else data.get("terms") != hash_of(sorted(terms)):
            changed["taxonomyTermIds"] = cast("Json", terms)
        merged, made = _merge_modules(base, modules, data)
        document = replace(document_edits.patch_fields(base, changed), modules=merged)
        if document == base:
            self._remember(post, fields, made, terms)
            return self._written("unchanged", post.path, post)

        def edit(current: PostDocument) -> PostDocument:
            again, _made = _merge_modules(current, modules, data, made)
            return replace(document_edits.patch_fields(current, changed), modules=again)

        if writer.is_dry_run:
            check_changes(post=post, before=base, after=document, actor=writer.actor)
            return self._written("updated" if writer.options.live else "staged", post.path, post)
        outcome: Outcome = "unchanged"
        if writer.options.live:
            version = post.version
            post = edit_post(post_id=post.pk, actor=writer.actor, edit=edit)
            outcome = "updated" if post.version != version else "unchanged"
        else:
            staged = stage(post_id=post.pk, layer=Layer.REVIEW, actor=writer.actor, edit=edit)
            outcome = "staged" if staged.paths else "unchanged"
        self._remember(post, fields, made, terms)
        self.planned.path = post.path
        return self._written(outcome, post.path, post)

    def _remember(
        self,
        post: Post,
        fields: JsonObject,
        made: Sequence[ModuleDocument],
        terms: list[str],
    ) -> None:
        data: JsonObject = {
            "fields": {name: hash_of(value) for name, value in fields.items()},
            "modules": [[module.id, module.type, hash_of(module.props)] for module in made],
            "terms": hash_of(sorted(terms)),
            "slug": self._source_slug,
        }
        self.writer._remember("post", self.item.source_id, post.pk, data)


def _new_module(type: str, props: Mapping[str, Json], id_: str = "") -> ModuleDocument:
    return ModuleDocument(
        id=id_ or str(uuid4()),
        type=type,
        instance_id=str(uuid4()),
        scope=own_scope(type),
        props=props,
    )


def _merge_modules(
    base: PostDocument,
    modules: Sequence[tuple[str, JsonObject]],
    data: Mapping[str, Json] | None,
    ids: Sequence[ModuleDocument] = (),
) -> tuple[tuple[ModuleDocument, ...], list[ModuleDocument]]:
    """The modules of `base` with those of the source in place of the ones that came before.

    One that is the same in the source stays as it is here, also where people changed or removed it. Without `data`,
    of a post that was here before, modules of one type are matched in their order, and none is removed. `ids` are
    what an earlier call made, so that new modules have one id. Also returns the modules as the source has them.
    """
    present = {module.id: module for module in base.modules}
    before: list[tuple[str, str, str]] = (
        [
            cast("tuple[str, str, str]", tuple(one))
            for one in cast("list[list[str]]", data["modules"])
        ]
        if data is not None
        else [
            (one.id, one.type, hash_of(one.props)) for one in base.modules if one.scope == "local"
        ]
    )
    unused = list(before)
    matched: dict[int, tuple[str, str, str]] = {}
    for number, (type, props) in enumerate(modules):
        digest = hash_of(props) if data is not None else hash_of(validate_props(type, props))
        found = next((one for one in unused if one[1:] == (type, digest)), None)
        if found is not None:
            matched[number] = found
            unused.remove(found)
    for number, (type, _props) in enumerate(modules):
        found = next((one for one in unused if one[1] == type and one[0] in present), None)
        if number not in matched and found is not None:
            matched[number] = found
            unused.remove(found)
    made: list[ModuleDocument] = []
    result = list(base.modules)
    if data is not None:
        gone = {one[0] for one in unused}
        result = [module for module in result if module.id not in gone]
    place = 0
    for number, (type, props) in enumerate(modules):
        old = matched.get(number)
        id_ = old[0] if old else (ids[number].id if ids else "")
        module = _new_module(type, props, id_)
        made.append(module)
        at = next((at for at, one in enumerate(result) if one.id == module.id), None)
        if at is not None:
            if old is not None and old[2] != _digest_for(old, type, props, data):
                result[at] = replace(result[at], props={**result[at].props, **props})
            place = at + 1
        elif old is None:
            result.insert(place, module)
            place += 1
    return tuple(result), made


def _digest_for(
    old: tuple[str, str, str],
    type: str,
    props: JsonObject,
    data: Mapping[str, Json] | None,
) -> str:
    return hash_of(props) if data is not None else hash_of(validate_props(type, props))
