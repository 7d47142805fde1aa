"""The check `orphan`."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck
from proofroom.core.site_urls import home_path


class Orphan(PostCheck):
    """A link in a published post or a menu leads to the post. Lists of the newest posts do not count."""

    name = "orphan"
    label = gettext_lazy("Links to this post")
    advice = gettext_lazy("Link to the post from another post, or add it to a menu.")
    passed = gettext_lazy("Other pages or menus link to the post.")
    not_judged = gettext_lazy("Nothing has to link to this page.")
    order = 90

    @classmethod
    def applies(cls, subject: CheckSubject) -> bool:
        is_home = subject.post.path == home_path(subject.locale)
        return subject.post.variation_of_id is None and not is_home

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        if subject.post.pk not in subject.context.linked:
            yield Failure(_("No page and no menu links to this post."))
