"""The check `staleTranslation`."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.document.labels import label_of, module_names
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck


class StaleTranslation(PostCheck):
    """No text of a translation is older than its source, or still in the language of the source.

    Judges the live content, because only live texts are compared with the source that they were made from.
    """

    name = "staleTranslation"
    label = gettext_lazy("Up-to-date translation")
    advice = gettext_lazy("Translate the text again, or mark the translation as up to date.")
    passed = gettext_lazy("The translation matches its source.")
    not_judged = gettext_lazy("The post is not a translation.")
    order = 70

    @classmethod
    def applies(cls, subject: CheckSubject) -> bool:
        return subject.post.translated_from_id is not None

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        state = subject.context.translation_states.get(subject.post.pk)
        if state is None:
            return
        names = module_names(subject.document)
        for path in state.stale_or_untranslated_paths:
            module = path.split(".")[1] if path.startswith("modules.") else ""
            if module and subject.document.module(module) is None:
                continue
            label = label_of(path, subject.document, names)
            message = (
                _("%(label)s is still in the language of the source.")
                if path in state.untranslated_paths
                else _("The source of %(label)s has changed.")
            )
            yield Failure(message % {"label": label}, path)
        if count := len(state.new_modules):
            message = ngettext(
                "%(count)s module of the source is missing.",
                "%(count)s modules of the source are missing.",
                count,
            )
            yield Failure(message % {"count": count})
