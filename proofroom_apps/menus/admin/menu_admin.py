"""The menu admin: create, delete, and edit items as a tree with a search for link targets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import uuid4

from django import forms
from django.contrib import admin
from django.db.models import Case, IntegerField, Q, Value, When
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.labels import type_label
from content.models import Post, Status
from content.store.scopes import hidden_post_ids, hidden_title, visible_to
from proofroom.core.admin.labels import LanguageFilter, language
from proofroom.core.admin.permissions import actor_of
from proofroom.core.admin.row_forms import RedisplayAdmin, RowsForm
from proofroom.core.content_scope import Scoped
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import RuleViolation
from proofroom.core.i18n import in_words
from proofroom.core.validation.form_fields import InputForm, with_label
from proofroom.core.validation.input_validation import reject_unstorable
from proofroom.definitions import post_types
from proofroom.definitions.listings import IndexPage, list_title
from proofroom.shared_content.edit_page import edit_page_context, edited_row, save_or_propose
from proofroom.taxonomies.models import Term
from proofroom_apps.menus.admin.item_rows import (
    MOVES,
    MenuRow,
    by_path,
    move_row,
    nodes_of,
    read_rows,
    rows_of,
    rows_to_items,
)
from proofroom_apps.menus.items import MAX_MENU_DEPTH, MAX_MENU_ITEMS
from proofroom_apps.menus.links import menu_post_ids, visible_links
from proofroom_apps.menus.menu_fields import MenuChanges, NewMenu
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.places import MENU_PLACES
from proofroom_apps.menus.services import change_menu, create_menu, delete_menu, edited_menu
from proofroom_apps.menus.shared_kind import MenuKind

_MAX_POSTS: Final = 8
_MAX_TERMS: Final = 6
_MAX_QUERY_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A search result. `key` is the value that its button sends."""

    key: str
    title: str
    where: str
    kind: str
    is_live: bool = True


def targets(words: str, locale: str, who: Scoped) -> list[LinkTarget]:
    """Return the targets that match the words, matches in the language first. Two queries."""
    words = words.replace("\x00", "").strip()[:_MAX_QUERY_LENGTH]
    lists = [
        LinkTarget(f"list:{found.name}", list_title(found.name), path, in_words(found.label))
        for found in post_types
        if (path := IndexPage(found.name, locale).path)
        and words.lower() in list_title(found.name).lower()
    ]
    return [*_posts(words, locale, who), *lists, *_terms(words, locale)]


def _posts(words: str, locale: str, who: Scoped) -> list[LinkTarget]:
    own = Case(When(locale=locale, then=Value(0)), default=Value(1), output_field=IntegerField())
    live = Case(When(status=Status.PUBLISHED, then=Value(0)), default=Value(1))
    seen = visible_to(Post.objects.alive(), who)
    # Placeholders are not approved yet, and variations have no address.
    found = seen.filter(is_placeholder=False, variation_of=None)
    if words:
        found = found.filter(Q(title__icontains=words) | Q(slug__icontains=words))
    rows = found.order_by(own, live, "-updated_at").only("title", "path", "type", "status")
    return [
        LinkTarget(
            f"post:{post.pk}",
            post.title,
            post.path,
            type_label(post.type),
            post.status == Status.PUBLISHED,
        )
        for post in rows[:_MAX_POSTS]
    ]


def _terms(words: str, locale: str) -> list[LinkTarget]:
    if not words:
        return []
    found = Term.objects.filter(name__icontains=words, locale__in=["", locale])
    return [
        LinkTarget(f"term:{type_}:{term.pk}", term.name, path, term.taxonomy)
        for term in found.order_by("name")[:_MAX_TERMS]
        for type_, path in _list_pages_of(term, locale)
    ]


def _list_pages_of(term: Term, locale: str) -> list[tuple[str, str]]:
    """Return the list pages of the term, as pairs of post type and path."""
    return [
        (found.name, path)
        for found in post_types
        if term.taxonomy in {use.slug for use in found.taxonomies}
        and (path := IndexPage(found.name, locale, term.taxonomy, term.slug).path)
    ]


def row_for(key: str, locale: str, who: Scoped) -> MenuRow | None:
    """Return a new item that links to the target of the key, or None if the target does not exist."""
    kind, _, rest = key.partition(":")
    if kind == "post":
        # The key comes from the request: only posts that the user may view.
        seen = visible_to(Post.objects.alive(), who)
        post = find_by_id(seen, rest)
        if post is None:
            return None
        return MenuRow(str(uuid4()), 0, type="post", url=post.path, post_id=str(post.pk))
    if kind == "list" and (path := IndexPage(rest, locale).path):
        return MenuRow(str(uuid4()), 0, label=list_title(rest), url=path)
    if kind == "term":
        type_, _, id_ = rest.partition(":")
        term = find_by_id(Term.objects, id_)
        lists = dict(_list_pages_of(term, locale)) if term else {}
        if term and type_ in lists:
            return MenuRow(str(uuid4()), 0, label=term.name, url=lists[type_])
    return None


def read_items(data: QueryDict) -> object:
    """Return the items that a form sent: as JSON by the script, else row by row. Raises `ValueError`."""
    if "items" in data:
        try:
            found: object = json.loads(str(data["items"]))
            reject_unstorable(found, "items")
        # Invalid JSON raises JSONDecodeError, which is a ValueError already.
        except RecursionError:
            raise ValueError(_("This is nested too deeply.")) from None
        except RuleViolation as error:
            raise ValueError(error.message) from None
        return found
    return rows_to_items(read_rows(data, data.getlist("row")))


def apply_button(data: QueryDict, locale: str, who: Scoped) -> tuple[list[MenuRow], str]:
    """Return the rows after the pressed button, and a message about it. Raises `ValueError`."""
    rows = list(rows_of(read_items(data)))
    do, _colon, key = data.get("do", "").partition(":")
    if do in MOVES:
        name = next((row.label or row.url for row in rows if row.id == key), "")
        said = _("Removed: %(name)s") % {"name": name} if do == "remove" else ""
        return move_row(rows, key, do), said
    new = row_for(key, locale, who) if do == "add" else None
    if do == "add-custom":
        label, url = data.get("new-label", "").strip(), data.get("new-url", "").strip()
        new = MenuRow(str(uuid4()), 0, label=label, url=url)
    if new is None or len(rows) >= MAX_MENU_ITEMS:
        return rows, ""
    said = _("Added at the end: %(name)s") % {"name": new.label or new.url}
    return [*rows, new], said


def tree_context(
    menu: Menu,
    rows: Sequence[MenuRow],
    who: Scoped,
    *,
    words: str,
    errors: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the template context of the rows. Always five queries."""
    nodes = nodes_of(rows)
    # One query for the titles of linked posts and their visibility.
    ids = menu_post_ids(rows_to_items([node.row for _path, node in by_path(nodes)]))  # type: ignore[arg-type]  # objects
    found = Post.objects.filter(pk__in=ids).only("title", "path", "status", "locale", "deleted_at")
    posts = {str(post.pk): post for post in found} if ids else {}
    hidden = hidden_post_ids(ids, who)
    names = {"label": _("Label"), "url": _("Address")}
    for path, node in by_path(nodes):
        node.where = node.row.url
        if node.row.type == "post":
            post = posts.get(node.row.post_id.lower())
            # `state` says why visitors don't see an item; empty if they do.
            if post is None:
                node.title, node.where, node.state = _("A deleted post"), "", _("deleted")
            elif post.pk in hidden:
                node.title, node.where, node.state = hidden_title(), "", ""
            else:
                node.title, node.where = post.title, post.path
                if post.deleted_at is not None:
                    node.state = _("deleted")
                elif post.status != Status.PUBLISHED:
                    node.state = _("not published")
        node.errors = [
            text
            for key, texts in errors.items()
            if _is_of(key, path)
            for text in with_label(names.get(key.rpartition(".")[2], ""), key, texts)
        ]
    return {
        "nodes": nodes,
        "number": len(rows),
        "deepest": MAX_MENU_DEPTH,
        "words": words,
        "targets": targets(words, menu.locale, who),
        "links": visible_links(rows_to_items(rows), menu.locale),  # type: ignore[arg-type]  # rows make objects
        **_place_context(menu),
        "siblings": Menu.objects.filter(slug=menu.slug).exclude(pk=menu.pk).order_by("locale"),
    }


def _place_context(menu: Menu) -> dict[str, object]:
    """Return where pages show the menu, or how to get it there. One query if no page shows it."""
    place = MENU_PLACES.get(menu.slug)
    if place is not None:
        return {"place": place}
    there = Menu.objects.filter(slug__in=MENU_PLACES, locale=menu.locale)
    by_slug = {other.slug: other for other in there}
    return {
        "places": [(slug, name, by_slug.get(slug)) for slug, name in MENU_PLACES.items()],
        "api_address": f"/api/menus/by-slug/{menu.slug}?locale={menu.locale}",
    }


def _is_of(key: str, path: str) -> bool:
    """Return whether an error key is about this item itself, not about an item below it."""
    rest = key.removeprefix(path)
    return rest != key and (not rest or (rest[0] == "." and not rest.startswith(".children.")))


class NewMenuForm(InputForm):
    input_class = NewMenu
    copied = forms.ModelChoiceField(
        label=gettext_lazy("Start with"),
        queryset=Menu.objects.order_by("slug", "locale"),
        required=False,
        empty_label=gettext_lazy("Empty menu"),
        help_text=gettext_lazy(
            "Copies the items of another menu. Links to posts point to their "
            "translations automatically."
        ),
    )


class ChangeMenuForm(InputForm, RowsForm):
    """The form of an existing menu. Its items are read from the whole request."""

    input_class = MenuChanges
    rows_field = wire_name = "items"
    unreadable = gettext_lazy("The items are not valid: %(problem)s.")
    version = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput)
    items = forms.Field(required=False, widget=forms.HiddenInput)

    def rows_sent(self, data: QueryDict) -> object:
        return read_items(data)


@admin.register(Menu)
class MenuAdmin(RedisplayAdmin[Menu]):
    view_permission = add_permission = "menus.edit"
    empty_words = gettext_lazy(
        "Menus link to your pages. Use “main” or “footer”; other menus need a template."
    )
    list_title = gettext_lazy("Menus")
    add_title = gettext_lazy("New menu")
    add_button = gettext_lazy("Create menu")
    add_form, change_form = NewMenuForm, ChangeMenuForm
    change_template = "admin/menus/menu.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the menu. If the default language has a menu "
        "with this slug, that one is shown instead."
    )
    list_display = ("name", "slug", language, "entries", "updated_at")
    list_filter = (("locale", LanguageFilter),)
    search_fields = ("name", "slug")
    ordering = ("slug", "locale")

    @admin.display(description=gettext_lazy("Items"))
    def entries(self, menu: Menu) -> int:
        return sum(1 for _row in rows_of(menu.items))

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = {name: form.cleaned_data[name] for name in ("name", "slug", "locale")}
        copied = form.cleaned_data["copied"]
        items = copied.items if copied else []
        menu = create_menu(actor=actor_of(request), items=items, **values)
        return HttpResponseRedirect(reverse("admin:proofroom_menus_menu_change", args=[menu.pk]))

    def initial(self, row: Menu) -> Mapping[str, object]:
        names = ("name", "slug", "locale", "version")
        return {name: getattr(row, name) for name in names}

    def shown(self, request: HttpRequest, row: Menu, form: forms.Form) -> Mapping[str, object]:
        rows, said = self._rows(request, row)
        problems = cast(ChangeMenuForm, form).problems
        words = request.POST.get("find", "")
        context = tree_context(row, rows, actor_of(request), words=words, errors=problems)
        is_changed = request.method == "POST"
        # A new item is the last one; show its fields open.
        is_new = request.POST.get("do", "").startswith("add")
        return {
            **context,
            "said": said,
            **edit_page_context(request, MenuKind(), row),
            "is_changed": is_changed,
            "new_id": (rows[-1].id if is_new and rows else ""),
        }

    def _rows(self, request: HttpRequest, row: Menu) -> tuple[list[MenuRow], str]:
        if request.method == "POST":
            # If the items are unreadable, show the stored ones: an empty tree could be saved by mistake.
            with suppress(ValueError):
                return apply_button(request.POST, row.locale, actor_of(request))
        return list(rows_of(self.edited(request, row).items)), ""

    def edited(self, request: HttpRequest, row: Menu) -> Menu:
        return cast(Menu, edited_row(request, MenuKind(), row))

    def change(self, request: HttpRequest, row: Menu, form: forms.Form) -> str | None:
        values = dict(form.cleaned_data)
        version = values.pop("version")
        with cast(ChangeMenuForm, form).service_errors_at_rows():
            return save_or_propose(
                request,
                MenuKind(),
                row,
                lambda: edited_menu(row, **values, actor=actor_of(request)),
                version,
                lambda: change_menu(
                    menu_id=row.pk, actor=actor_of(request), expected_version=version, **values
                ),
            )

    def remove(self, request: HttpRequest, row: Menu, form: forms.Form) -> None:
        delete_menu(menu_id=row.pk, actor=actor_of(request))
