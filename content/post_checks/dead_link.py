"""The check `deadLink`."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.contents import inside_path, outside_url
from content.post_checks.context import CheckSubject
from content.post_checks.external_links import failure_text, is_dead
from content.post_checks.registry import Failure, PostCheck


class DeadLink(PostCheck):
    """Links lead somewhere.

    Addresses of the site are looked up at once. Other addresses are checked by a task, which stores the results.
    """

    name = "deadLink"
    label = gettext_lazy("Links")
    advice = gettext_lazy("Correct the address, or remove the link.")
    passed = gettext_lazy("No link is known to be broken.")
    judges_values = True
    order = 40

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        for link in subject.contents.links:
            path, url = inside_path(link.href), outside_url(link.href)
            if path:
                # A post may link to itself before it is published.
                if path in subject.context.unserved_paths and path != subject.post.path:
                    message = _("The site has no published page at %(href)s.")
                    message %= {"href": link.href}
                    yield Failure(message, link.path, link.href, "dead_link")
            elif url:
                address = subject.context.addresses.get(url)
                if address is not None and is_dead(address):
                    message = failure_text(address, link.href)
                    yield Failure(message, link.path, link.href, "dead_link")
