"""Data of the checks of posts: links of live content, addresses of other sites, results of accessibility tests."""

from __future__ import annotations

from typing import ClassVar, Final

from django.db import models

from content.models.module import ModuleInstance
from content.models.post import Post

KEY_LENGTH: Final = 64
HREF_MAX: Final = 2_048


class ContentLink(models.Model):
    """One link of live content, written in the transaction of the change.

    The holder is a post or a global module. `path` is a path of contract §6, for a global module `props.<name>`.
    `key` is the hash of the target (`content.store.content_links`): a path of the site, a post, or an address of
    another site. `target_id`: the post that the path led to before that post moved.
    """

    class Kind(models.TextChoices):
        PATH = "path", "Path"
        POST = "post", "Post"
        URL = "url", "Address of another site"

    post = models.ForeignKey(Post, null=True, on_delete=models.CASCADE, related_name="+")
    module = models.ForeignKey(
        ModuleInstance, null=True, on_delete=models.CASCADE, related_name="+"
    )
    path = models.CharField(max_length=300)
    kind = models.CharField(max_length=4, choices=Kind.choices)
    href = models.CharField(max_length=HREF_MAX)
    key = models.CharField(max_length=KEY_LENGTH, db_index=True)
    # No foreign key: a link to a purged post stays known as one, so that answers can leave it out.
    target_id = models.UUIDField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=models.Q(post__isnull=True) ^ models.Q(module__isnull=True),
                name="content_link_has_one_holder",
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["kind", "id"], name="content_link_by_kind"),
        ]

    def __str__(self) -> str:
        return f"{self.href} in {self.path} of {self.post_id or self.module_id}"


class CheckedAddress(models.Model):
    """An address of another site that live content links to, and the result of its last check.

    `status`: the HTTP status, None without an answer; `problem` then says why. `failures`: number of failed checks
    in a row. `due_at`: time of the next check.
    """

    key = models.CharField(max_length=KEY_LENGTH, primary_key=True)
    url = models.CharField(max_length=HREF_MAX)
    host = models.CharField(max_length=255)
    status = models.PositiveSmallIntegerField(null=True)
    problem = models.CharField(max_length=300, blank=True, default="")
    failures = models.PositiveSmallIntegerField(default=0)
    checked_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.url


class AccessibilityReport(models.Model):
    """The result of the accessibility test of a post's content, identified by a hash of that content.

    `violations`: `{rule, impact, help, helpUrl, count, target}` for each rule that the page breaks.
    """

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=KEY_LENGTH)
    violations = models.JSONField(default=list)
    engine = models.CharField(max_length=40)
    checked_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "digest"], name="accessibility_once"),
        ]

    def __str__(self) -> str:
        return f"{self.post_id} {self.digest[:8]}"
