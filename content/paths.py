"""URL paths of posts: from the post type's pattern, stored on the post, set when what they are made of changes."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from content.definitions import post_types
from content.models import Post
from core.errors import invalid

HOME_SLUG: Final = "home"
"""The root page of this slug is the home page of its locale."""
_DEEPEST: Final = 20
_LONGEST: Final = 1900


def path_for(post: Post) -> str:
    """The path of a post: the default locale without prefix, others with theirs.

    A post whose type no longer exists has the path `/<type>/<slug>`.
    """
    definition = post_types.get(post.type)
    pattern = definition.url_pattern if definition else f"/{post.type}/{{slug}}"
    day = post.published_at or post.created_at
    values = {
        "slug": post.slug,
        "locale": post.locale,
        "path": "/".join(_slugs(post)),
        "yyyy": f"{day:%Y}",
        "mm": f"{day:%m}",
        "dd": f"{day:%d}",
    }
    path = pattern
    for name, value in values.items():
        path = path.replace("{" + name + "}", value)
    if len(path) > _LONGEST:
        raise invalid("slug", f"The address would be longer than {_LONGEST:,} characters.")
    prefix = "" if post.locale == settings.CMS_ENV.default_locale else f"/{post.locale}"
    if path == f"/{HOME_SLUG}" and post.parent_id is None:
        return f"{prefix}/"
    return prefix + path


def _slugs(post: Post) -> list[str]:
    """The slugs from the root down to the post."""
    slugs = [post.slug]
    ancestor, depth = post.parent, 0
    while ancestor is not None and depth < _DEEPEST:
        slugs.insert(0, ancestor.slug)
        ancestor, depth = ancestor.parent, depth + 1
    return slugs


def follow_path_change(post: Post) -> None:
    """Set the paths of everything below a post whose path changed."""
    level, depth = [post], 0
    while level and depth < _DEEPEST:
        parents = {parent.pk: parent for parent in level}
        # Locked, so that a child which is changing now is read as it will be.
        children = Post.objects.select_for_update(of=("self",), no_key=True)
        level = list(children.filter(parent_id__in=parents).order_by("pk"))
        for child in level:
            child.parent = parents.get(child.parent_id) if child.parent_id else None
            child.path = path_for(child)
        Post.objects.bulk_update(level, ["path"])
        depth += 1
