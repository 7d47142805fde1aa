"""The form for the poster and the captions of a video or audio file."""

from __future__ import annotations

from typing import Any, Final, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from media.captions import CAPTIONS_MAX
from media.models import Asset
from media.scopes import visible_assets
from media.services.player import set_captions, set_poster
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError
from proofroom.core.i18n.languages import site_languages
from proofroom.core.validation.input_validation import parse_uuid

_FILE: Final = "captions_"
_REMOVED: Final = "remove_captions_"
"""Beginnings of the names of fields, before the code of the language."""
_MAX_OFFERED: Final = 100
"""Number of the newest images that the list offers without the picker."""


class PlayerForm(forms.Form):
    """Poster and, for each language of the site, a file with captions."""

    poster = forms.ChoiceField(
        label=gettext_lazy("Poster"),
        required=False,
        help_text=gettext_lazy("The image shown before it starts."),
    )

    def __init__(self, *args: Any, asset: Asset, actor: Actor, **more: Any) -> None:
        super().__init__(*args, **more)
        self.asset, self.actor = asset, actor
        self.initial.setdefault("poster", str(asset.poster or ""))
        images = visible_assets(Asset.objects.filter(mime__startswith="image/"), actor)
        images = images.order_by("-created_at")
        found = {str(pk): name for pk, name in images.values_list("pk", "filename")[:_MAX_OFFERED]}
        wanted = {str(self.data.get("poster") or ""), str(asset.poster or "")} - {"", *found}
        known = images.filter(pk__in=[one for one in wanted if parse_uuid(one) is not None])
        found |= {str(pk): name for pk, name in known.values_list("pk", "filename")}
        if asset.poster:
            # Its name is hidden from people who see it only as the poster.
            found.setdefault(str(asset.poster), _("Image"))
        poster = cast("forms.ChoiceField", self.fields["poster"])
        poster.choices = [("", _("No poster")), *found.items()]
        poster.widget.attrs["data-poster"] = ""
        present = asset.captions or {}
        for code, name in site_languages():
            self.fields[f"{_FILE}{code}"] = forms.FileField(
                label=_("Captions (%(language)s)") % {"language": name},
                required=False,
                widget=forms.FileInput(attrs={"accept": ".vtt,text/vtt"}),
                max_length=1000,
                help_text=_("A WebVTT file replaces the present captions.")
                if code in present
                else _("A WebVTT file (.vtt)."),
            )
            if code in present:
                self.fields[f"{_REMOVED}{code}"] = forms.BooleanField(
                    label=_("Remove captions (%(language)s)") % {"language": name}, required=False
                )

    def save(self) -> None:
        """Save what was changed. Errors of captions are added to the field of their language."""
        captions: dict[str, str] = {}
        for code, _name in site_languages():
            file = self.cleaned_data.get(f"{_FILE}{code}")
            if file:
                # One byte more than allowed is enough to refuse it.
                captions[code] = file.read(4 * CAPTIONS_MAX + 1).decode("utf-8", "replace")
            elif self.cleaned_data.get(f"{_REMOVED}{code}"):
                captions[code] = ""
        for code, text in captions.items():
            try:
                set_captions(asset_id=self.asset.pk, captions={code: text}, actor=self.actor)
            except CmsError as error:
                self.add_error(f"{_FILE}{code}", error.message)
        if "poster" in self.changed_data and not self.errors:
            poster = self.cleaned_data["poster"] or None
            set_poster(asset_id=self.asset.pk, poster_id=poster, actor=self.actor)
