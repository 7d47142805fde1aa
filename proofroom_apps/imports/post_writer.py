"""Stores the posts of a source through the services: new posts as drafts, changes of existing ones in Review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.document import CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from content.layers import open_layers
from content.layers.stage import stage
from content.models import Layer, Post
from content.posts.create import PostDates, create_post, empty_document, new_row
from content.posts.edit import edit_post
from content.rules import check_changes
from content.store import document_edits
from content.store.publish_permissions import PUBLISH
from content.store.scopes import outside_of_scope, require_in_scope, visible_to, would_be_in_scope
from proofroom.accounts.models import User
from proofroom.core.errors import CmsError, NotFound, RuleViolation
from proofroom.core.json import Json, JsonObject, format_time
from proofroom.core.slugs import slug_of
from proofroom.definitions import find_module, find_post_type, props_of
from proofroom.taxonomies.models import Term
from proofroom_apps.imports.addresses import PostAddresses
from proofroom_apps.imports.digests import hash_of
from proofroom_apps.imports.items import PostItem, Remark, Severity, SourceSlug
from proofroom_apps.imports.module_merge import merge_modules, new_module
from proofroom_apps.imports.plan import SLUG_TRIES, PlannedPost
from proofroom_apps.imports.writer import ImportWriter, Outcome, WrittenItem

_LIMITED: Final = {
    name: field
    for name, field in POST_FIELDS.items()
    if field.max_length and field.kind in ("text", "textarea") and not field.format
}
"""Text fields with a maximum length, to which values are cut."""


def write_post(writer: ImportWriter, item: PostItem) -> WrittenItem:
    """Create, update or skip a post. If validation fails, nothing is stored and the outcome says so."""
    planned = writer.plan.posts[item.source_id]
    # A copy, to restore the plan if the post is not stored.
    before = replace(planned)
    try:
        with transaction.atomic():
            return _PostWriter(writer, item, planned).write()
    except Exception as error:
        # The transaction failed, so no address may point to the post.
        planned.post_id, planned.path, planned.slug = before.post_id, before.path, before.slug
        if not isinstance(error, CmsError):
            raise
        details = " ".join(
            f"{path}: {text}" for path, texts in error.details.items() for text in texts[:1]
        )
        message = error.message if error.message in details or not details else details
        return WrittenItem("failed", item.place, message[:2000], None, item.remarks)


@dataclass
class _PostWriter:
    """Writes one post of the source."""

    writer: ImportWriter
    item: PostItem
    planned: PlannedPost
    remarks: list[Remark] = field(default_factory=list)
    unresolved: set[str] = field(default_factory=set)
    """Fields with a source value that has no counterpart on the site."""
    has_all_terms: bool = True
    addresses: PostAddresses = field(init=False)

    def __post_init__(self) -> None:
        self.addresses = PostAddresses(self.writer, self.item.base, self.item.source_id)

    def write(self) -> WrittenItem:
        self.remarks += self.item.remarks
        fields = self._fields()
        modules = self._modules()
        terms = self._terms()
        for sentence in self.addresses.report():
            self._remark(sentence)
        known = self.writer.imported("post", self.item.source_id)
        if known is not None:
            post = Post.objects.filter(pk=known.object_id).first()
            if post is not None:
                self._require_in_scope(post)
            if post is not None and post.deleted_at is not None:
                return self._written("skipped", _("The post is in the trash."), post)
            if post is not None:
                return self._update(post, known.data, fields, modules, terms)
        if self.planned.post_id is not None and not self.planned.is_imported:
            post = Post.objects.alive().filter(pk=self.planned.post_id).first()
            if post is not None:
                self._require_in_scope(post)
                return self._update(post, None, fields, modules, terms)
        return self._create(fields, modules, terms)

    def _require_in_scope(self, post: Post) -> None:
        """Raise `NotAllowed` for a post out of the actor's scope, without the id of a hidden post."""
        try:
            require_in_scope(post, self.writer.actor)
        except NotFound:
            raise outside_of_scope() from None

    @property
    def _source_slug(self) -> str:
        return SourceSlug.of(self.item.slug, self.item.title, self.item.locale).text

    def _written(self, outcome: Outcome, message: str, post: Post | None) -> WrittenItem:
        return WrittenItem(
            outcome, self.item.place, message, post.pk if post else None, tuple(self.remarks)
        )

    def _fields(self) -> JsonObject:
        item = self.item
        fields: JsonObject = {"title": item.title, **item.fields}
        for name, field_ in _LIMITED.items():
            value, most = fields.get(name), field_.max_length or 0
            if isinstance(value, str):
                has_lines = field_.kind == "textarea" and field_.panel == "main"
                line = value if has_lines else " ".join(value.split())
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
                self.unresolved.add("featuredMediaId")
                self.addresses.missing_files.append(item.featured_image)
        if item.parent_id:
            # A parent that is missing this time must not be removed from the post.
            self.unresolved.add("parentId")
        if self.planned.parent_id is not None:
            parent_id = self.writer.post_id(self.planned.parent_id)
            if parent_id is not None:
                fields["parentId"] = str(parent_id)
            elif not self.writer.is_dry_run:
                self._remark(
                    _("The parent could not be imported, so the post is at the top level.")
                )
        return fields

    def _custom_fields(self, values: Mapping[str, Json]) -> JsonObject:
        definition = find_post_type(self.item.type)
        known = props_of(definition.CustomFields)
        for name in values:
            if name not in known:
                text = _("The post type %(type)s has no field %(name)s; its value was left out.")
                self._remark(text % {"type": self.item.type, "name": name})
        kept = {name: value for name, value in values.items() if name in known}
        found = self.addresses.resolve(definition.CustomFields, kept)
        missing = [name for name, value in found.items() if value is None and kept[name]]
        self.unresolved.update(CUSTOM_PREFIX + name for name in missing)
        return {name: value for name, value in found.items() if name not in missing}

    def _modules(self) -> list[tuple[str, JsonObject]]:
        return [
            (
                module.type,
                self.addresses.resolve(find_module(module.type).Props, module.props),
            )
            for module in self.item.modules
        ]

    def _terms(self) -> list[str]:
        uses = {use.slug: use for use in find_post_type(self.item.type).taxonomies}
        by_taxonomy: dict[str, dict[str, None]] = {}
        for taxonomy, source_id in dict.fromkeys(self.item.terms):
            term_id = self.writer.term_id(taxonomy, source_id)
            self.has_all_terms &= term_id is not None
            if term_id is not None:
                by_taxonomy.setdefault(taxonomy, {})[str(term_id)] = None
        found: list[str] = []
        for taxonomy, known in by_taxonomy.items():
            ids = list(known)
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

    def _remark(self, message: str, severity: Severity = "warning") -> None:
        self.remarks.append(Remark(self.item.place, message, severity))

    def _create(
        self, fields: JsonObject, modules: list[tuple[str, JsonObject]], terms: list[str]
    ) -> WrittenItem:
        made = [new_module(type, props) for type, props in modules]
        wanted: JsonObject = {
            **fields,
            "slug": self.planned.slug,
            "taxonomyTermIds": cast("Json", terms),
        }
        if self.writer.is_dry_run:
            wanted.pop("parentId", None)
            self._check(wanted, made, terms)
            return self._written("created", self.planned.path, None)
        post = self._create_at_free_slug(wanted, made)
        self.planned.post_id = post.pk
        before = self.planned.path
        self.planned.path, self.planned.slug = post.path, post.slug
        if before and before != post.path:
            self.writer.plan.move_below(self.planned, before)
        self._remember(post, fields, made, terms)
        return self._written("created", post.path, post)

    def _create_at_free_slug(self, fields: JsonObject, made: list[ModuleDocument]) -> Post:
        slug = str(fields["slug"])
        source = self._source_of_translation()
        dates = self._dates()
        for number in range(1, SLUG_TRIES + 1):
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
                        author=self._author(),
                        dates=dates,
                    )
            except RuleViolation as error:
                # Another number helps only if the slug is in use.
                if "slug" not in error.details or number == SLUG_TRIES:
                    raise
                continue
            if number > 1:
                text = _("The address %(path)s is already in use, so the post is at %(new)s.")
                self._remark(text % {"path": self.planned.path, "new": post.path})
            return post
        raise AssertionError

    def _dates(self) -> PostDates:
        """Return the dates at which the post was published, created and changed in the source."""
        published = self.item.published_at
        if published is not None and published > timezone.now():
            text = _("It is to be published on %(date)s in the source.")
            self._remark(text % {"date": format_time(published)}, "info")
            published = None
        if published is not None and not self.writer.actor.can(PUBLISH):
            text = _(
                "It was published on %(date)s in the source. Only publishers can keep that date."
            )
            self._remark(text % {"date": format_time(published)})
            published = None
        return PostDates(published, self.item.created_at, self.item.updated_at)

    def _author(self) -> User | None:
        """Return the account with the author's e-mail address in the source."""
        email = self.item.author_email
        found = User.objects.filter(email__iexact=email, is_active=True).first() if email else None
        if email and found is None:
            text = _(
                "No account has the author’s email address %(email)s, so you are set as the author."
            )
            self.remarks.append(Remark(self.item.place, text % {"email": email[:200]}, "info"))
        return found

    def _source_of_translation(self) -> Post | None:
        """Return the first post of the same group, in another language."""
        first = self.writer.plan.groups.get(self.item.translation_group)
        if first is None or first == self.item.source_id:
            return None
        source_id = self.writer.post_id(first)
        seen = visible_to(Post.objects.alive(), self.writer.actor)
        source = seen.filter(pk=source_id).first() if source_id else None
        if source is None or source.locale == self.item.locale or source.type != self.item.type:
            return None
        group = Post.objects.alive().filter(translation_group=source.translation_group)
        # A group has at most one post per language.
        return None if group.filter(locale=self.item.locale).exists() else source

    def _check(self, fields: JsonObject, made: list[ModuleDocument], terms: list[str]) -> None:
        """Validate the post without storing it."""
        post = new_row(self.writer.actor, self.item.type, self.item.locale, None)
        empty = empty_document(post)
        document = replace(document_edits.patch_fields(empty, fields), modules=tuple(made))
        if not all(
            would_be_in_scope(
                # In a dry run, terms that the import would create don't exist yet.
                scope if self.has_all_terms else replace(scope, terms=frozenset()),
                type=self.item.type,
                locale=self.item.locale,
                path=self.planned.path,
                term_ids=[UUID(term) for term in terms],
            )
            for scope in self.writer.actor.scopes
        ):
            raise outside_of_scope()
        check_changes(post=post, before=empty, after=document, actor=self.writer.actor)

    def _update(
        self,
        post: Post,
        data: Mapping[str, Json] | None,
        fields: JsonObject,
        modules: list[tuple[str, JsonObject]],
        terms: list[str],
    ) -> WrittenItem:
        """Apply the changes of the source since the last import. Changes made on the site are preserved."""
        writer = self.writer
        self.planned.post_id, self.planned.path = post.pk, post.path
        present = open_layers(post)
        base = present.live if writer.options.live else present.review.document
        if data is None:
            # The existing post was found by its place, so its parent must not change.
            fields = {name: value for name, value in fields.items() if name != "parentId"}
        changed = self._changed_fields(base, data, fields)
        # TRANSLITERATE_SLUGS may have changed since the last import. That moves no page.
        same = (self._source_slug, slug_of(self.item.slug or self.item.title))
        if data is not None and data.get("slug") not in same:
            changed["slug"] = self._source_slug
        merged, made = merge_modules(base, modules, data)
        document = self._with_terms(document_edits.patch_fields(base, changed), data, terms)
        document = replace(document, modules=merged)
        if document == base:
            self._remember(post, fields, made, terms, data)
            return self._written("unchanged", post.path, post)

        def edit(current: PostDocument) -> PostDocument:
            # The post may have changed since `base` was read, so merge into the current document.
            again, _made = merge_modules(current, modules, data, made)
            patched = document_edits.patch_fields(current, changed)
            return replace(self._with_terms(patched, data, terms), modules=again)

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
        self._remember(post, fields, made, terms, data)
        self.planned.path = post.path
        return self._written(outcome, post.path, post)

    def _changed_fields(
        self, base: PostDocument, data: Mapping[str, Json] | None, fields: JsonObject
    ) -> JsonObject:
        """Return the fields that changed in the source since the last import.

        A field that the source no longer fills is emptied, unless it was changed on the site.
        """
        before = _hashes_in(data)
        flat = _flat(fields)
        found: JsonObject = {
            name: value for name, value in flat.items() if before.get(name) != hash_of(value)
        }
        empty = find_post_type(self.item.type).default_custom_fields()
        for name in before.keys() - flat.keys() - self.unresolved - {"title"}:
            if name in base.fields and hash_of(base.fields[name]) == before[name]:
                if name.startswith(CUSTOM_PREFIX):
                    found[name] = empty.get(name.removeprefix(CUSTOM_PREFIX))
                else:
                    declared = POST_FIELDS[name]
                    found[name] = None if declared.is_nullable else "" if declared.is_text else 0
        changed: JsonObject = {
            name: value for name, value in found.items() if not name.startswith(CUSTOM_PREFIX)
        }
        custom: JsonObject = {
            name.removeprefix(CUSTOM_PREFIX): value
            for name, value in found.items()
            if name.startswith(CUSTOM_PREFIX)
        }
        return {**changed, "customFields": custom} if custom else changed

    def _with_terms(
        self, document: PostDocument, data: Mapping[str, Json] | None, terms: list[str]
    ) -> PostDocument:
        """Return the document with the source's terms instead of its earlier ones. Terms chosen on the site stay."""
        before = set(cast("list[str]", (data or {}).get("termIds") or ()))
        gone = before - set(terms) if self.has_all_terms else set()
        kept = [one for one in document.taxonomy_term_ids if one not in gone]
        held = {*before, *kept}
        new = [one for one in terms if one not in held]
        if not gone and not new:
            return document
        by_id = dict(Term.objects.filter(pk__in=[*kept, *new]).values_list("pk", "taxonomy"))
        taxonomies = {str(pk): taxonomy for pk, taxonomy in by_id.items()}
        for use in find_post_type(self.item.type).taxonomies:
            own = [one for one in [*kept, *new] if taxonomies.get(one) == use.slug]
            if use.max_selections is not None and len(own) > use.max_selections:
                beyond = {*own[use.max_selections :]}
                new = [one for one in new if one not in beyond]
        return document.with_terms([*kept, *new])

    def _remember(
        self,
        post: Post,
        fields: JsonObject,
        made: Sequence[ModuleDocument],
        terms: list[str],
        before: Mapping[str, Json] | None = None,
    ) -> None:
        # Unresolved fields were not imported this time, so their last import stays on record.
        kept = {name: one for name, one in _hashes_in(before).items() if name in self.unresolved}
        old_terms = cast("list[str]", (before or {}).get("termIds") or [])
        data: JsonObject = {
            "fields": {**kept, **{name: hash_of(value) for name, value in _flat(fields).items()}},
            "modules": [[module.id, module.type, hash_of(module.props)] for module in made],
            "termIds": sorted({*terms, *([] if self.has_all_terms else old_terms)}),
            "slug": self._source_slug,
        }
        self.writer.remember("post", self.item.source_id, post.pk, data)


def _flat(fields: JsonObject) -> JsonObject:
    """Return the fields with custom fields at the top level, under their names in documents."""
    custom = fields.get("customFields")
    flat: JsonObject = {name: one for name, one in fields.items() if name != "customFields"}
    if isinstance(custom, Mapping):
        flat |= {CUSTOM_PREFIX + name: value for name, value in custom.items()}
    return flat


def _hashes_in(data: Mapping[str, Json] | None) -> dict[str, str]:
    """Return the hash of each field at the last import."""
    return dict(cast("Mapping[str, str]", (data or {}).get("fields") or {}))
