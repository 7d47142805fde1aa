"""Alt texts of many images on one page: images without one in a language, or images chosen in the library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from media.admin.file_choice import choice_of
from media.models import Asset
from media.queries import annotate_use_counts, filter_undescribed
from media.scopes import visible_assets
from media.services.update import update_asset
from proofroom.core.admin.form_pages import form_page, service_errors_at_fields
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.i18n.languages import language_name, site_languages
from proofroom.core.validation.input_validation import parse_uuids

PAGE_SIZE: Final = 24
MAX_CHOSEN: Final = 100


class AltTextForm(forms.Form):
    """The description of one image, with its value when the page was loaded, to detect concurrent changes."""

    alt_text = forms.CharField(
        label=gettext_lazy("Alt text"),
        max_length=500,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        show_hidden_initial=True,
    )
    is_decorative = forms.BooleanField(
        label=gettext_lazy("Decorative image (no alt text needed)"),
        required=False,
        show_hidden_initial=True,
    )

    def __init__(self, asset: Asset, locale: str, data: QueryDict | None = None) -> None:
        is_default = locale == settings.CMS_ENV.default_locale
        self.asset, self.locale = asset, locale
        self.choice = choice_of(asset)
        self.uses: int = asset.uses  # type: ignore[attr-defined]  # annotated by `annotate_use_counts`
        present = asset.alt_text if is_default else str(asset.alt_texts.get(locale, ""))
        self.default_text = "" if is_default else asset.alt_text
        self.present = {"alt_text": present, "is_decorative": asset.is_decorative}
        super().__init__(data, initial=self.present, prefix=str(asset.pk))

    def clean(self) -> dict[str, Any]:
        """Refuse fields that another user changed meanwhile. Saving again overwrites the other change."""
        cleaned = super().clean() or self.cleaned_data
        data = QueryDict(mutable=True)
        data.update(self.data)
        for name in self.changed_data:
            key = self.add_initial_prefix(name)
            initial_value = self.fields[name].to_python(self.data.get(key, ""))
            if initial_value == self.present[name]:
                continue
            # The form now shows the current value as the initial one, so a second save of the same input is
            # accepted.
            data[key] = str(self.present[name])
            text = self.present["alt_text"] or "–"
            message = _("Somebody changed this in the meantime. It now says: %(text)s")
            self.add_error("alt_text", message % {"text": text})
        self.data = data
        return cleaned

    def save(self, request: HttpRequest) -> None:
        # Saves changed fields only: another user may have changed the others.
        changed = {name: self.cleaned_data[name] for name in self.changed_data}
        text = changed.get("alt_text")
        is_default = self.locale == settings.CMS_ENV.default_locale
        with service_errors_at_fields(self):
            update_asset(
                asset_id=self.asset.pk,
                actor=actor_of(request),
                alt_text=text if is_default else None,
                alt_texts=None if is_default or text is None else {self.locale: text},
                is_decorative=changed.get("is_decorative"),
            )


@service_errors_as_http
def alt_texts_page(request: HttpRequest) -> HttpResponse:
    """GET shows the images `ids`, or the first without alt text in `language`; POST saves each image separately."""
    require(request, "media.edit")
    sent = request.POST if request.method == "POST" else request.GET
    locale = sent.get("language", "") or settings.CMS_ENV.default_locale
    if locale not in settings.CMS_ENV.locales:
        locale = settings.CMS_ENV.default_locale
    chosen = parse_uuids(sent.getlist("ids"))[:MAX_CHOSEN]
    here = f"{reverse('admin:media_asset_alt_texts')}?language={locale}"
    if request.method == "POST":
        rows = _images(request).filter(pk__in=chosen)
        posted = [AltTextForm(asset, locale, request.POST) for asset in rows]
        saved = 0
        for form in posted:
            if form.is_valid() and form.has_changed():
                form.save(request)
                saved += not form.errors
        if saved:
            message = ngettext("Saved %(n)s image.", "Saved %(n)s images.", saved)
            messages.success(request, message % {"n": saved})
        refused = [form for form in posted if form.errors]
        if not refused:
            return HttpResponseRedirect(here)
        return _page(request, locale, refused, is_refused=True)
    undescribed = filter_undescribed(_images(request), locale)
    rows = _images(request).filter(pk__in=chosen) if chosen else undescribed[:PAGE_SIZE]
    return _page(request, locale, [AltTextForm(asset, locale) for asset in rows])


def _images(request: HttpRequest) -> QuerySet[Asset]:
    """Return images, most used first, because their missing texts affect the most pages."""
    rows = annotate_use_counts(Asset.objects.filter(mime__startswith="image/"), actor_of(request))
    return rows.order_by(F("uses").desc(), "-created_at", "pk")


def _page(
    request: HttpRequest, locale: str, rows: Sequence[AltTextForm], *, is_refused: bool = False
) -> HttpResponse:
    seen = visible_assets(Asset.objects.all(), actor_of(request))
    languages = [
        (code, name, filter_undescribed(seen, code).count(), code == locale)
        for code, name in site_languages()
    ]
    context = {
        "rows": rows,
        "locale": locale,
        "language": language_name(locale),
        "default_language": language_name(settings.CMS_ENV.default_locale),
        "languages": languages,
        "missing": next(count for _code, _name, count, is_shown in languages if is_shown),
        "is_refused": is_refused,
    }
    answer = form_page(request, "admin/media/alt_texts.html", Asset, context, title=_("Alt text"))
    if is_refused:
        answer.status_code = 422
    return answer
