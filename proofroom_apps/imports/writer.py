"""Stores files, terms, menus and redirects of a source through the services."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Final, Literal
from urllib.parse import urldefrag
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from media.metadata import clean_description
from media.models import ALT_TEXT_MAX, Asset
from media.models import DESCRIPTION_MAX as FILE_DESCRIPTION_MAX
from media.presenters import url_of
from media.scopes import visible_assets
from media.services.update import update_asset
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject
from proofroom.core.slugs import numbered_slugs
from proofroom.core.title_slugs import ascii_slug_of_title
from proofroom.core.validation.host_names import has_valid_host
from proofroom.core.validation.limits import LABEL_MAX
from proofroom.definitions import find_module, find_post_type, taxonomies
from proofroom.definitions.richtext.links import safe_href
from proofroom.taxonomies.models import DESCRIPTION_MAX, NAME_MAX, SLUG_MAX, Term
from proofroom.taxonomies.services import change_term, create_term
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.digests import hash_of, source_key
from proofroom_apps.imports.items import (
    MediaItem,
    MenuEntryItem,
    MenuItem,
    PostItem,
    RedirectItem,
    Remark,
    SourceSlug,
    TermItem,
)
from proofroom_apps.imports.media_files import FileProblem, host_of, store_file
from proofroom_apps.imports.models import ImportedObject
from proofroom_apps.imports.named_files import NamedFiles
from proofroom_apps.imports.places import PagePlaces
from proofroom_apps.imports.plan import ImportPlan
from proofroom_apps.menus.items import MAX_MENU_DEPTH
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import change_menu, create_menu
from seo.models import NewRedirect, Redirect
from seo.redirect_paths import clean_from, clean_to, key_of, path_in
from seo.services.redirects import create_redirect

# NUL and lone surrogates: databases refuse them in text.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

Outcome = Literal["created", "updated", "staged", "unchanged", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class WrittenItem:
    """The outcome of an item."""

    outcome: Outcome
    place: str
    message: str = ""
    object_id: UUID | None = None
    remarks: tuple[Remark, ...] = ()
    kind: str = ""
    """Kind under which it is counted, if it differs from the stage's, such as a post's file."""


def _texts(alt_text: str, description: str) -> JsonObject:
    """Return the texts of a file for the library."""
    return {
        "alt": " ".join(alt_text.split())[:ALT_TEXT_MAX],
        "description": clean_description(description[:FILE_DESCRIPTION_MAX]),
    }


def _too_long(item: TermItem) -> str:
    if len(item.description) <= DESCRIPTION_MAX:
        return ""
    text = _("The description was cut to %(most)s characters.")
    return text % {"most": DESCRIPTION_MAX}


@dataclass
class ImportWriter:
    """Writes the items of one run. Unless `is_dry_run`, each `write_…` call belongs in a transaction."""

    source: str
    reader: Reader
    plan: ImportPlan
    options: ImportOptions
    actor: Actor
    is_dry_run: bool
    places: Mapping[str, PagePlaces] = field(default_factory=dict)
    """Headings in each post of the source, for links with fragments."""
    _assets: dict[str, Asset | None] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    # Files, before the transaction of what uses them.

    def load_file(self, item: MediaItem) -> WrittenItem:
        """Add a file to the library, unless it was imported before."""
        known = self._known_asset(item.address)
        if known is not None:
            return self._update_file(item, known)
        return self._add_file(item)

    def _update_file(self, item: MediaItem, known: Asset) -> WrittenItem:
        """Apply the changes of the source to a file that was imported before.

        A different file is added as a new asset: posts get it like other changes, and other uses keep the old one. A
        fetched file is not fetched again.
        """
        row = self.imported("file", item.address)
        before: JsonObject = row.data if row is not None else {}
        digest = self._digest_of(item.address) or str(before.get("digest") or "")
        last = before.get("digest") or known.digest
        if digest and last and digest != last:
            text = _("The file has changed in the source; the new one is beside the old one.")
            if self.is_dry_run:
                self._assets[item.address] = None
                return WrittenItem("updated", item.address, text, known.pk)
            kept = replace(
                # The library's texts, which may have been edited, also describe the new file.
                item, alt_text=known.alt_text or item.alt_text,
                description=known.description or item.description,
            )  # fmt: skip
            added = self._add_file(kept)
            if added.outcome == "failed":
                # Posts continue to use the old file.
                self._assets[item.address] = known
                return added
            return replace(added, outcome="updated", message=text)
        wanted = _texts(item.alt_text, item.description)
        is_new_text = "texts" in before and before["texts"] != wanted
        # Texts that were edited on the site are not overwritten.
        is_text_of_source = _texts(known.alt_text, known.description) == before.get("texts")
        if is_new_text and item.address in self.plan.files and is_text_of_source:
            if not self.options.live:
                text = _(
                    "The texts of the file have changed in the source. They are only changed when "
                    "live changes are allowed."
                )
                return WrittenItem("skipped", item.address, text, known.pk)
            if self.is_dry_run:
                return WrittenItem("updated", item.address, "", known.pk)
            try:
                update_asset(
                    asset_id=known.pk,
                    actor=self.actor,
                    alt_text=str(wanted["alt"]),
                    description=str(wanted["description"]),
                )
            except CmsError as error:
                return WrittenItem("failed", item.address, error.message, known.pk)
            self.remember("file", item.address, known.pk, {"digest": digest, "texts": wanted})
            return WrittenItem("updated", item.address, "", known.pk)
        if digest and digest != before.get("digest"):
            self.remember(
                "file", item.address, known.pk, {"texts": wanted, **before, "digest": digest}
            )
        return WrittenItem("unchanged", item.address, "", known.pk)

    def _digest_of(self, address: str) -> str:
        """Return the SHA-256 of a file in the folder; empty if it cannot be read."""
        if self.reader.files.find(address) is None:
            return ""
        try:
            return sha256(self.reader.files.read(address)[1]).hexdigest()
        except FileProblem:
            return ""

    def _add_file(self, item: MediaItem) -> WrittenItem:
        if self.is_dry_run:
            self._assets[item.address] = None  # counted once, as in a run
            if self.reader.files.find(item.address) is not None:
                return WrittenItem("created", item.address)
            if self.reader.files.can_read(item.address):
                text = _("Will be fetched from %(host)s.") % {"host": host_of(item.address)}
                return WrittenItem("created", item.address, text)
            return WrittenItem("failed", item.address, _("The file is not in the folder."))
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
            self.problems[item.address] = str(error)
            return WrittenItem("failed", item.address, str(error))
        self._assets[item.address] = asset
        data: JsonObject = {
            "digest": asset.digest,
            "texts": _texts(item.alt_text, item.description),
        }
        self.remember("file", item.address, asset.pk, data)
        if is_new:
            return WrittenItem("created", item.address, "", asset.pk)
        lost = [
            f"“{text}”"
            for text, kept in (
                (item.alt_text, asset.alt_text),
                (item.description, asset.description),
            )
            if text and " ".join(text.split()) != " ".join(kept.split())
        ]
        remarks: tuple[Remark, ...] = ()
        if lost:
            said = _(
                "The file is in the library already, with texts of its own. Left out: %(names)s."
            )
            remarks = (Remark(item.address, said % {"names": ", ".join(lost)}),)
        return WrittenItem("unchanged", item.address, "", asset.pk, remarks)

    def load_files_of(self, item: PostItem) -> list[WrittenItem]:
        """Add the files that a post names to the library."""
        found = NamedFiles()
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
        written: list[WrittenItem] = []
        for key, alt_text in keys.items():
            if key and key not in self._assets:
                alt_text = alt_text or self.reader.alt_text(key)
                done = self.load_file(self.plan.files.get(key) or MediaItem(key, alt_text))
                if done.outcome != "unchanged" or done.remarks:
                    written.append(replace(done, kind="files"))
        return written

    def _known_asset(self, address: str) -> Asset | None:
        if address not in self._assets:
            row = self.imported("file", address)
            seen = visible_assets(Asset.objects.all(), self.actor)
            found = seen.filter(pk=row.object_id).first() if row else None
            # A missing file is not cached, because `load_files_of` skips files in the cache.
            if found is not None:
                self._assets[address] = found
        return self._assets.get(address)

    # Terms, menus and redirects.

    def write_term(self, item: TermItem) -> WrittenItem:
        if taxonomies.get(item.taxonomy) is None:
            text = _("This site has no taxonomy %(name)s.") % {"name": item.taxonomy}
            return WrittenItem("skipped", item.name, text)
        source_id = f"{item.taxonomy}:{item.source_id}"
        known = self.imported("term", source_id)
        imported = Term.objects.filter(pk=known.object_id).first() if known is not None else None
        if known is not None and imported is not None:
            return self._describe_term(item, imported, str(known.data.get("description", "")))
        name = item.name[:NAME_MAX].strip()
        locale = self.options.site_locale
        slug, there = self._term_at(item, name, locale)
        if there is not None:
            self.remember("term", source_id, there.pk, {})
            said = self._describe_term(item, there, "")
            return said if said.message else replace(said, message=_("Already exists."))
        if self.is_dry_run:
            return WrittenItem("created", item.name)
        parent = None
        definition = taxonomies.get(item.taxonomy)
        if item.parent_id and definition is not None and definition.hierarchical:
            parent = self.imported("term", f"{item.taxonomy}:{item.parent_id}")
        try:
            with transaction.atomic():
                term = create_term(
                    actor=self.actor,
                    taxonomy=item.taxonomy,
                    name=name or slug,
                    slug=slug,
                    description=item.description[:DESCRIPTION_MAX],
                    locale=locale,
                    parent_id=parent.object_id if parent else None,
                )
        except CmsError as error:
            return WrittenItem("failed", item.name, error.message)
        self.remember("term", source_id, term.pk, {"description": item.description})
        return WrittenItem("created", item.name, _too_long(item), term.pk)

    def _describe_term(self, item: TermItem, term: Term, before: str) -> WrittenItem:
        """Apply a description that changed in the source, unless it was edited here. `before`: the imported one."""
        is_edited = term.description != before[:DESCRIPTION_MAX]
        if item.description == before or is_edited:
            return WrittenItem("unchanged", item.name, "", term.pk)
        if not self.options.live:
            text = _(
                "The description of the term has changed in the source. It is only changed when "
                "live changes are allowed."
            )
            return WrittenItem("skipped", item.name, text, term.pk)
        if not self.is_dry_run:
            try:
                change_term(
                    term_id=term.pk,
                    actor=self.actor,
                    description=item.description[:DESCRIPTION_MAX],
                )
            except CmsError as error:
                return WrittenItem("failed", item.name, error.message, term.pk)
            source_id = f"{item.taxonomy}:{item.source_id}"
            self.remember("term", source_id, term.pk, {"description": item.description})
        return WrittenItem("updated", item.name, _too_long(item), term.pk)

    def _term_at(self, item: TermItem, name: str, locale: str) -> tuple[str, Term | None]:
        """Return the slug for a term, and the existing term if there is one.

        If the slug lost characters, as for `C++`, the names must also match.
        """
        source = SourceSlug.of(item.slug, item.name, locale, SLUG_MAX)
        for slug in numbered_slugs(source.text, SLUG_MAX):
            # A term for all languages also matches; prefer one in this language.
            named = Term.objects.filter(taxonomy=item.taxonomy, slug=slug, locale__in=(locale, ""))
            there = named.order_by("-locale").first()
            if there is None or source.is_spelled_out or there.name == name:
                return slug, there
        raise AssertionError

    def write_menu(self, item: MenuItem) -> WrittenItem:
        lost: list[str] = []
        entries = self._menu_entries(item.entries, 1, lost)
        remarks = tuple(Remark(item.name, sentence) for sentence in lost)
        known = self.imported("menu", item.source_id)
        menu = Menu.objects.filter(pk=known.object_id).first() if known else None
        digest = hash_of(entries)
        if menu is not None and known is not None:
            if known.data.get("hash") == digest:
                return WrittenItem("unchanged", item.name, "", menu.pk)
            if not self.options.live:
                text = _(
                    "The menu has changed in the source. Menus are only changed when "
                    "live changes are allowed."
                )
                return WrittenItem("skipped", item.name, text, menu.pk)
        named = item.slug or item.name
        slug = ascii_slug_of_title(named, item.locale, 90) or "menu"
        if menu is None and Menu.objects.filter(slug=slug, locale=item.locale).exists():
            slug = f"{slug}-imported"
            taken = set(Menu.objects.filter(locale=item.locale).values_list("slug", flat=True))
            if slug in taken and named.isascii():
                text = _("A menu with this name already exists.")
                return WrittenItem("skipped", item.name, text)
            # A name in another script loses most characters in the slug, so equal slugs prove nothing.
            slug = next(one for one in numbered_slugs(slug, 100) if one not in taken)
        if self.is_dry_run:
            return WrittenItem("updated" if menu else "created", item.name, remarks=remarks)
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
            return WrittenItem("failed", item.name, error.message)
        self.remember("menu", item.source_id, menu.pk, {"hash": digest})
        return WrittenItem(outcome, item.name, "", menu.pk, remarks)

    def _menu_entries(
        self, entries: Sequence[MenuEntryItem], depth: int, lost: list[str]
    ) -> list[Json]:
        """Return the entries as menus store them. `lost` collects sentences on entries that a menu cannot store."""
        found: list[Json] = []
        for entry in entries:
            below: list[Json] = []
            if depth < MAX_MENU_DEPTH:
                below = self._menu_entries(entry.entries, depth + 1, lost)
            elif entry.entries:
                text = _("Menu items below %(label)s are nested too deeply; %(number)s left out.")
                lost.append(text % {"label": entry.label[:100], "number": len(entry.entries)})
            label = entry.label[:LABEL_MAX].strip()
            post_id = self.post_id(entry.post_id) if entry.post_id else None
            if post_id is not None:
                found.append(
                    {"label": label, "type": "post", "postId": str(post_id), "children": below}
                )
                continue
            planned = self.plan.posts.get(entry.post_id) if entry.post_id else None
            address = planned.path if planned is not None else self.link(entry.address, "")[0]
            url = safe_href(address) or ""
            url = url if has_valid_host(url) else ""
            if label and not (url or below):
                text = _("The menu item %(label)s has no address on this site.")
                lost.append(text % {"label": label[:100]})
            if label or below or url:
                label = label or address[:LABEL_MAX] or "…"
                found.append({"label": label, "type": "custom", "url": url, "children": below})
        return found

    def write_redirect(self, item: RedirectItem) -> WrittenItem:
        planned = self.plan.posts.get(item.to_post) if item.to_post else None
        if planned is not None and planned.post_id is None and not self.is_dry_run:
            return WrittenItem(
                "skipped", item.from_path, _("The post it links to was not imported.")
            )
        target = planned.path if planned is not None else self.link(item.to_address, "")[0]
        place = f"{item.from_path} → {target}"
        try:
            from_path = clean_from(item.from_path)
            # The post has its old path here, and a redirect to itself would be a loop.
            if from_path == path_in(clean_to(target)):
                return WrittenItem("unchanged", place)
            if Redirect.objects.filter(from_key=key_of(from_path)).exists():
                return WrittenItem("unchanged", place)
            with transaction.atomic():
                row = create_redirect(
                    actor=self.actor, redirect=NewRedirect(from_path=from_path, to_path=target)
                )
                # A dry run calls the service to validate, then rolls back.
                transaction.set_rollback(self.is_dry_run)
            if self.is_dry_run:
                return WrittenItem("created", place)
        except CmsError as error:
            return WrittenItem("skipped", place, error.message)
        return WrittenItem("created", place, "", row.pk)

    # What content names.

    def link(
        self,
        address: str,
        base: str,
        source_id: str = "",
        dead_places: dict[str, None] | None = None,
    ) -> tuple[str, bool]:
        """Return the site's address for a source address, and whether it has no target on the site.

        `source_id` is the id of the post with the link. A fragment missing on its page is added to `dead_places`.
        """
        bare, fragment = urldefrag(address)
        key = self.reader.link_key(address, base)
        # A fragment alone leads to the post itself.
        target = self.plan.addresses.get(key, "") if key else "" if bare else source_id
        path = self.plan.posts[target].path if target else ""
        if path and (fragment or not bare):
            places = self.places.get(target)
            place = places.find(fragment) if places is not None else None
            if place is None:
                if places is not None and dead_places is not None:
                    dead_places[address] = None
                return (f"{path}#{fragment}" if bare or key else address), False
            if target == source_id and place:
                return f"#{place}", False
            return (f"{path}#{place}" if place else path), False
        if path:
            return path, False
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
        row = self.imported("term", f"{taxonomy}:{source_id}")
        return row.object_id if row else None

    # What came from where.

    def imported(self, kind: str, source_id: str) -> ImportedObject | None:
        return ImportedObject.objects.filter(
            source=self.source, scope=self.reader.scope, kind=kind, key=source_key(source_id)
        ).first()

    def remember(self, kind: str, source_id: str, object_id: UUID, data: JsonObject) -> None:
        if self.is_dry_run:
            return
        ImportedObject.objects.update_or_create(
            source=self.source,
            scope=self.reader.scope,
            kind=kind,
            key=source_key(source_id),
            # The key finds the row. The id is for readers only, so unstorable characters are removed.
            defaults={
                "source_id": _UNSTORABLE.sub("", source_id),
                "object_id": object_id,
                "data": data,
            },
        )
