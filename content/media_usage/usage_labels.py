"""Posts and global modules as lists of places name them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from django.urls import reverse

from content.models import ModuleInstance, Post
from media.usage_sources import UsageSource


def posts(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    """Of posts in the trash nothing is told."""
    rows = Post.objects.kept().filter(pk__in=ids).values_list("pk", "title", "locale")
    return {
        pk: UsageSource(
            title, locale=locale, address=reverse("admin:content_post_change", args=[pk])
        )
        for pk, title, locale in rows
    }


def global_modules(ids: Collection[UUID]) -> Mapping[UUID, UsageSource]:
    rows = ModuleInstance.objects.filter(scope="global", pk__in=ids)
    return {
        pk: UsageSource(label or slug or "", global_slug=slug)
        for pk, label, slug in rows.values_list("pk", "label", "global_slug")
    }
