"""The translations of a post: list, create, mark as up to date."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy

from content.comparison.agreement.mismatch_text import mismatch_text
from content.document.labels import label_of, module_label, module_names
from content.layers import Layers
from content.models import Post
from content.store.duplicate import terms_without_translation
from content.store.scopes import visible_to
from content.store.translation_status import TranslationState, states_of
from content.translations.source_mismatches import Mismatches, live_mismatches
from content.translations.translate import create_translation, mark_up_to_date
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.i18n.languages import language_name
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read

_MAX_MISMATCHES: Final = 30
"""Maximum number of mismatches in the list."""


class TranslationForm(forms.Form):
    locale = forms.ChoiceField(label=gettext_lazy("Language"))
    slug = forms.CharField(
        label=gettext_lazy("Slug"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Leave blank to use the same."),
    )

    def __init__(self, *args: Any, taken: set[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        found = self.fields["locale"]
        if isinstance(found, forms.ChoiceField):
            free = [locale for locale in settings.CMS_ENV.locales if locale not in taken]
            found.choices = [(locale, language_name(locale)) for locale in free]


@dataclass(frozen=True, slots=True)
class TranslationRow:
    """A translation in the list: its description, and whether it can be marked as up to date."""

    post: Post
    url: str
    compare_url: str
    facts: list[str]
    details: list[str]
    can_be_checked: bool


@service_errors_as_http
def translations(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET lists the languages, POST creates a translation or marks this one as up to date."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    seen = visible_to(Post.objects.alive(), actor_of(request))
    group = seen.filter(translation_group=post.translation_group)
    rows = list(group.order_by("locale"))
    do = request.POST.get("do", "")
    form = TranslationForm(
        request.POST if do == "create" else None, taken={row.locale for row in rows}
    )

    def create() -> None:
        values = form.cleaned_data
        made = create_translation(
            post_id=post.pk,
            locale=values["locale"],
            slug=values["slug"] or None,
            actor=actor_of(request),
        )
        names = {"title": made.title, "language": language_name(made.locale)}
        messages.success(request, gettext("“%(title)s” is a draft in %(language)s.") % names)
        warn_missing_terms(request, [(post, made.locale)])

    states = states_of(rows)
    mismatches = live_mismatches([row for row in rows if row.pk in states], actor_of(request))
    if form.is_bound and save_form(form, create):
        return HttpResponseRedirect(request.path)
    if do == "checked" and post.pk in states:
        with service_errors_as_messages(request):
            paths = states[post.pk].open_paths
            mark_up_to_date(post_id=post.pk, actor=actor_of(request), paths=paths)
        return HttpResponseRedirect(request.path)
    may_write = may(request, "posts.translate")
    is_full = not form.fields["locale"].choices or post.variation_of_id is not None  # type: ignore[attr-defined]
    title = gettext("Translations")
    context = {
        "lines": [
            _row(
                row,
                states.get(row.pk),
                mismatches.get(row.pk, ()),
                post,
                layers,
                may_write=may_write,
            )
            for row in rows
        ],
        "form": form if may_write and not is_full else None,
        "xliff_url": f"{reverse('admin:content-xliff')}?post={post.pk}" if may_write else "",
    }
    return post_page(
        request,
        "admin/posts/translations.html",
        post,
        layers,
        context,
        title=f"{title}: {post.title}",
        tab="",
        status=422 if context["form"] and form.errors else 200,
    )


def warn_missing_terms(request: HttpRequest, made: Iterable[tuple[Post, str]]) -> None:
    """Add a warning on terms of the sources that have no term with the same slug in the new language."""
    missing: dict[str, dict[str, None]] = defaultdict(dict)
    for source, locale in made:
        missing[locale].update(dict.fromkeys(terms_without_translation(locale, source)))
    for locale, names in missing.items():
        if names:
            text = gettext(
                "Terms left out, as %(language)s has none with the same slug: %(terms)s."
            )
            shown = {"language": language_name(locale), "terms": ", ".join(names)}
            messages.warning(request, text % shown)


def _row(
    row: Post,
    state: TranslationState | None,
    mismatches: Mismatches,
    post: Post,
    layers: Layers,
    *,
    may_write: bool,
) -> TranslationRow:
    is_own = row.pk == post.pk
    copied = set(state.untranslated_paths) if state else set()
    open_paths = state.open_paths if state else []
    older = len(set(open_paths) - copied)
    facts = [language_name(row.locale)]
    if is_own:
        facts.append(gettext("this post"))
    if copied:
        facts.append(gettext("%(number)s not translated yet") % {"number": len(copied)})
    if older:
        facts.append(gettext("%(number)s to update") % {"number": older})
    if mismatches:
        text = gettext("%(number)s not as in the source")
        facts.append(text % {"number": len(mismatches)})
    details: list[str] = []
    if is_own and state is not None:
        # Outdated fields, with the labels of the review.
        names = module_names(layers.live)
        text = gettext("%(field)s: not translated yet")
        for path in state.stale_or_untranslated_paths:
            label = label_of(path, layers.live, names)
            details.append(text % {"field": label} if path in copied else label)
        text = gettext("%(module_label)s: new in the source")
        details += [text % {"module_label": module_label(new.type)} for new in state.new_modules]
        text = gettext("%(get)s: removed from the source")
        details += [text % {"get": names.get(own, own)} for own, _ in state.removed_modules]
        shown = mismatches[:_MAX_MISMATCHES]
        details += [
            f"{label_of(one.path, layers.live, names)}: {mismatch_text(one)}" for one in shown
        ]
    return TranslationRow(
        row,
        post_url("change", row),
        post_url("translate", row) if state is not None else "",
        facts,
        details,
        is_own and bool(open_paths) and may_write,
    )
