"""The check `altText`."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.contents import ImagePart
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck
from media.metadata import alt_of
from media.models import Asset
from media.services.references import storage_name


class AltText(PostCheck):
    """Every image has an alternative text, or is marked as decorative."""

    name = "altText"
    label = gettext_lazy("Alt text")
    advice = gettext_lazy("Describe the image in its alt text, or mark it as decorative.")
    passed = gettext_lazy("All images have an alt text.")
    judges_values = True
    order = 30

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        for image in subject.contents.images:
            asset = _asset_of(image, subject)
            if image.alt.strip() or (asset is not None and asset.is_decorative):
                continue
            if image.media_id:
                # A file that no longer exists, or a document, shows no image.
                if asset is None or not asset.mime.startswith("image/"):
                    continue
                if alt_of(asset, subject.locale):
                    continue
            name = asset.filename if asset is not None else image.src
            message = _("The image %(name)s has no alt text.") % {"name": name}
            yield Failure(message, image.path, image.media_id or image.src)


def _asset_of(image: ImagePart, subject: CheckSubject) -> Asset | None:
    key = image.media_id or storage_name(image.src) or ""
    return subject.context.assets.get(key)
