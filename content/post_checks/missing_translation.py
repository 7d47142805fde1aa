"""The check `missingTranslation`."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck
from proofroom.core.i18n.languages import language_name
from proofroom.definitions import post_types


class MissingTranslation(PostCheck):
    """A post exists in every language of the site. A draft counts."""

    name = "missingTranslation"
    label = gettext_lazy("Translations")
    advice = gettext_lazy("Create the translation on the Translations page.")
    passed = gettext_lazy("The post exists in all languages.")
    not_judged = gettext_lazy("Posts like this one have no translations.")
    order = 80

    @classmethod
    def applies(cls, subject: CheckSubject) -> bool:
        definition = post_types.get(subject.document.type)
        is_localized = definition is None or definition.localized
        is_variation = subject.post.variation_of_id is not None
        return is_localized and not is_variation and len(settings.CMS_ENV.locales) > 1

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        siblings = subject.context.siblings.get(subject.post.translation_group, ())
        existing = {sibling.locale for sibling in siblings} | {subject.locale}
        for locale in settings.CMS_ENV.locales:
            if locale not in existing:
                message = _("There is no translation into %(language)s.")
                yield Failure(message % {"language": language_name(locale)}, "", locale)
