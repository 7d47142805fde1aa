"""The form of a new post. Users with limited access get only choices within their scope."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.db.models import Case, When
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.labels import module_label
from content.models import Post
from content.modules.module_copies import RefusedCopy
from content.posts.autosave import discard_copy, find_copy
from content.posts.create import create_post
from content.posts.post_templates import create_from_template
from content.store.post_paths import fill_pattern, pattern_of
from content.store.scopes import MAX_OFFERED, changeable_by, visible_to, would_be_in_scope
from proofroom.core.actor import Actor
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.content_scope import ContentScope, allowed_names, scopes_for
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import CmsError, NotFound
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name, site_languages
from proofroom.core.json import Json
from proofroom.core.validation.form_fields import with_label
from proofroom.definitions import PostType, post_types
from proofroom.taxonomies.models import Term
from proofroom_apps.editorial.post_editor.autosave import (
    copies_of_page,
    copy_key,
    form_of,
    offer_new,
    read_follows,
)
from proofroom_apps.editorial.post_editor.form_fields import Choice
from proofroom_apps.editorial.posts.post_pages import page, post_url
from proofroom_apps.snippets.models import PostTemplate

OUTLINE_MAX: Final = 6
"""Modules that the outline of a template names."""


@dataclass(frozen=True, slots=True)
class NewPostChoices:
    """The choices for a new post. `terms` and `parents` are empty if the permissions require none.

    With `is_always_below`, every remaining type needs a parent page to be in scope.
    """

    types: Sequence[Choice]
    locales: Sequence[Choice]
    terms: Sequence[Choice] = ()
    parents: Sequence[Choice] = ()
    is_always_below: bool = False

    @property
    def is_possible(self) -> bool:
        return bool(self.types and self.locales)


def offer_choices(actor: Actor) -> NewPostChoices:
    """Return the actor's choices for a new post. No query for users without limits."""
    scopes = scopes_for("posts.create", actor.scopes)
    of_types = allowed_names(scopes, "types", [definition.name for definition in post_types])
    types = [definition for definition in post_types if definition.name in of_types]
    names = allowed_names(scopes, "locales", settings.CMS_ENV.locales)
    locales = [(name, label) for name, label in site_languages() if name in names]
    terms: list[Term] = []
    if ids := {id_ for scope in scopes for id_ in scope.terms}:
        found = Term.objects.filter(pk__in=ids, locale__in=["", *names])
        terms = list(found.order_by("taxonomy", "order_index", "name"))
        # A post in scope has one of these terms, so its type must use their taxonomy.
        used = {term.taxonomy for term in terms}
        types = [one for one in types if not used.isdisjoint(use.slug for use in one.taxonomies)]
    parents: list[Post] = []
    is_always_below = False
    if limited := [scope for scope in scopes if scope.sections]:
        trees = [definition.name for definition in types if definition.hierarchical]
        pages = changeable_by(Post.objects.alive(), actor).filter(type__in=trees, locale__in=names)
        usual_first = Case(When(locale=settings.CMS_ENV.default_locale, then=0), default=1)
        parents = list(pages.order_by(usual_first, "path")[:MAX_OFFERED])
        # A type with a tree needs a page in the sections, another type a pattern with addresses below them.
        flat = [one for one in types if not one.hierarchical and _fits(one, names, limited)]
        above = {post.type for post in parents}
        types = [one for one in types if one in flat or one.name in above]
        is_always_below = not flat
    several = len(names) > 1
    return NewPostChoices(
        types=[(definition.name, in_words(definition.label)) for definition in types],
        locales=locales,
        terms=[
            (
                str(term.pk),
                f"{term.name} ({language_name(term.locale)})"
                if several and term.locale
                else term.name,
            )
            for term in terms
        ],
        parents=[(str(post.pk), f"{post.title} — {post.path}") for post in parents],
        is_always_below=is_always_below,
    )


def _fits(
    definition: type[PostType], locales: Collection[str], scopes: Collection[ContentScope]
) -> bool:
    """Return whether addresses of a type without tree are below the sections, in one of the languages."""
    for locale in locales:
        # An example that is never saved: only its path is needed.
        post = Post(type=definition.name, locale=locale, slug="new", created_at=timezone.now())
        path = fill_pattern(pattern_of(definition.name, locale), post, [post.slug])
        if all(
            # The user chooses one of the scope's terms in the form, so assume that the terms fit.
            would_be_in_scope(scope, type=post.type, locale=locale, path=path, term_ids=scope.terms)
            for scope in scopes
        ):
            return True
    return False


@service_errors_as_http
def add(request: HttpRequest) -> HttpResponse:
    """GET shows the form, POST creates a draft. After an error the form keeps the typed values."""
    require(request, "posts.create")
    actor, key = actor_of(request), copy_key(request)
    do = request.POST.get("do", "")
    sent: QueryDict = request.POST
    if do == "discard" and key is not None:
        discard_copy(key=key, actor=actor)
        return HttpResponseRedirect(request.get_full_path())
    if do == "restore":
        copy = find_copy(key=key, post_id=None, actor=actor) if key is not None else None
        if copy is None:
            messages.info(request, _("These changes were already saved or discarded."))
            return HttpResponseRedirect(request.get_full_path())
        sent = form_of(copy)
    choices = offer_choices(actor)
    type_ = sent.get("type") or request.GET.get("type", "")
    named = sent.get("parent") or request.GET.get("parent", "")
    parent = find_parent(request, choices, named, type_)
    typed = {
        "type": type_,
        "locale": sent.get("locale") or request.GET.get("locale", ""),
        "title": sent.get("title", ""),
        "slug": sent.get("slug", ""),
        "term": sent.get("term", ""),
        "template": sent.get("template") or request.GET.get("template", ""),
    }
    if parent is not None:
        # A page has the type and the language of its parent.
        typed |= {"type": parent.type, "locale": parent.locale}
    for name, offered, usual in (
        ("type", choices.types, "blog"),
        ("locale", choices.locales, settings.CMS_ENV.default_locale),
    ):
        names = [value for value, _label in offered]
        if not typed[name] and names:
            typed[name] = usual if usual in names else names[0]
    templates = offer_templates(choices, parent)
    if typed["template"] not in {template.id for template in templates}:
        # Deleted since, or for a type that does not fit the parent page.
        typed["template"] = ""
    problem, status = "", 200
    errors: dict[str, list[str]] = {}
    if request.method == "POST" and do != "restore":
        fields: dict[str, Json] = {"title": typed["title"]}
        if typed["slug"]:
            fields["slug"] = typed["slug"]
        if parent is not None:
            fields["parentId"] = str(parent.pk)
        if typed["term"]:
            fields["taxonomyTermIds"] = [typed["term"]]
        try:
            post, left_out = _create(actor, typed, fields)
        except CmsError as error:
            # Out of scope can be corrected by other choices in the form, so show the form again.
            if error.status == 403 and error.code != "outside_of_scope":
                raise
            labels = {"title": _("Title"), "slug": _("Slug")}
            errors, status = (
                {
                    name: with_label(label, name, error.details[name])
                    for name, label in labels.items()
                    if name in error.details
                },
                error.status,
            )
            problem = "" if errors else error.message
        else:
            if key is not None:
                discard_copy(key=key, actor=actor, follows=read_follows(request.POST))
            messages.success(request, _("“%(title)s” is a draft.") % {"title": post.title})
            if left_out:
                parts = ", ".join(f"{one.label} ({one.reason.rstrip('.')})" for one in left_out)
                sentence = _("Parts of the template were left out: %(names)s.")
                messages.warning(request, sentence % {"names": parts})
            return HttpResponseRedirect(post_url("change", post))
    copies = copies_of_page(sent)
    context = {
        "typed": typed,
        "parent": parent,
        "parent_id": str(parent.pk) if parent else "",
        "copy": copies.key,
        "follows": copies.fields,
        "offered": offer_new(request, copies),
        "is_restored": do == "restore",
        "problem": problem,
        "errors": errors,
        "choices": choices,
        "templates": templates,
    }
    return page(request, "admin/posts/add.html", context, title=_("New post"), status=status)


@dataclass(frozen=True, slots=True)
class TemplateChoice:
    """A template to start from. `more` is the number of modules that the outline leaves out."""

    id: str
    name: str
    description: str
    type: str
    outline: Sequence[str]
    more: int


def offer_templates(choices: NewPostChoices, parent: Post | None) -> list[TemplateChoice]:
    """Return the templates for posts that the actor may create here. One query."""
    labels = dict(choices.types)
    types = [parent.type] if parent is not None and not choices.parents else [*labels]
    found = []
    for row in PostTemplate.objects.filter(type__in=types).order_by("name"):
        outline = [module_label(one["type"]) for one in row.modules]
        found.append(
            TemplateChoice(
                str(row.pk),
                row.name,
                row.description,
                str(labels.get(row.type, row.type)),
                outline[:OUTLINE_MAX],
                len(outline[OUTLINE_MAX:]),
            )
        )
    return found


def _create(
    actor: Actor, typed: Mapping[str, str], fields: Mapping[str, Json]
) -> tuple[Post, Sequence[RefusedCopy]]:
    """Create the post. Return it with the parts of its template that it could not get."""
    if typed["template"]:
        made = create_from_template(
            actor=actor, template_id=typed["template"], locale=typed["locale"], fields=fields
        )
        return made.post, made.left_out
    post = create_post(actor=actor, type=typed["type"], locale=typed["locale"], fields=fields)
    return post, ()


def find_parent(request: HttpRequest, choices: NewPostChoices, text: str, type: str) -> Post | None:
    """Return the parent page of a new post. Raises `NotFound` if it no longer exists."""
    definition = post_types.get(type)
    # The form has one select of parents for all types, so a type without a tree gets a parent too. Ignore it.
    is_ignored = bool(choices.parents) and not choices.is_always_below
    if not text or (is_ignored and definition is not None and not definition.hierarchical):
        return None
    hierarchical = [definition.name for definition in post_types if definition.hierarchical]
    seen = visible_to(Post.objects.alive(), actor_of(request))
    found = find_by_id(seen.filter(type__in=hierarchical), text)
    if found is None:
        raise NotFound(_("The parent page no longer exists."))
    return found
