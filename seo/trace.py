"""Trace of how the site resolves an address, step by step, to a page, a redirect or nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from django.conf import settings
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from content.models import Post
from content.store.post_paths import HOME_SLUG, pattern_of
from content.store.post_queries import list_posts_of, published_at, published_posts
from proofroom.core import search
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.i18n.languages import language_name
from proofroom.core.json import JsonObject
from proofroom.core.site_urls import (
    LLMS,
    SEARCH,
    canonical_form,
    home_path,
    locale_of,
    page_in_markdown,
)
from proofroom.core.validation.limits import URL_MAX
from proofroom.definitions import post_types
from proofroom.definitions.listings import feed_at, list_path, listing_at
from seo.queries import target_of

Outcome = Literal["page", "list", "system", "moved", "redirect", "nothing"]
StepName = Literal["address", "locale", "system", "post", "list", "form", "redirect", "pattern"]
_VARIABLE_PATTERNS: Final[Mapping[str, str]] = {
    "slug": r"[^/]+", "path": r".+", "locale": r"[^/]+", "yyyy": r"\d{4}", "mm": r"\d\d", "dd": r"\d\d",
}  # fmt: skip
_SYSTEM_PAGES: Final = (SEARCH, LLMS)
_MAX_POSTS: Final = 20
"""Maximum number of posts examined in one step."""


@dataclass(frozen=True, slots=True)
class TraceStep:
    """`name`: the question of the step; `found`: True if it decided the response; `sentence`: a
    message for people."""

    name: StepName
    found: bool
    sentence: str
    facts: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class Trace:
    """The steps of an address, and the final response."""

    path: str
    outcome: Outcome = "nothing"
    status: int = 404
    location: str | None = None
    steps: list[TraceStep] = field(default_factory=list)
    near: list[str] = field(default_factory=list)
    """Addresses of published posts that are spelled similarly, if there is no response."""

    def add(self, name: str, found: bool, sentence: str, **facts: object) -> None:
        self.steps.append(TraceStep(name, found, sentence, facts))  # type: ignore[arg-type]  # callers pass only valid names and facts

    def end(self, outcome: Outcome, status: int, location: str | None = None) -> None:
        self.outcome, self.status, self.location = outcome, status, location


def trace_address(path: str, actor: Actor) -> Trace:
    """Return the steps for a path. Drafts are mentioned only to actors who may see posts."""
    actor.require_diagnosis("seo.manage")
    path = path.split("#")[0].split("?")[0]
    if not path.startswith("/") or path.startswith("//"):
        raise invalid("path", _("path must be a path on this site that starts with one /."))
    if len(path) > URL_MAX or not path.isprintable():
        raise invalid(
            "path",
            _("path can have at most %(address_max)s printable characters.")
            % {"address_max": f"{URL_MAX:,}"},
        )
    found = Trace(path)
    follow_address(found, locale_of(path))
    if found.outcome in ("nothing", "redirect"):
        explain_patterns(found, locale_of(path), actor)
    if found.outcome == "nothing":
        found.near = _near_addresses(found.path)
    return found


def _near_addresses(path: str) -> list[str]:
    """Return the addresses of published posts whose slug is similar to the end of a path. One query."""
    slug = path.rstrip("/").rsplit("/", 1)[-1]
    posts = published_posts().filter(locale=locale_of(path)).exclude(path="")
    newest = posts.order_by("-published_at", "id").values_list("path", "slug")
    return search.near_matches(slug, newest[: search.MAX_NEAR_CANDIDATES])


def follow_address(found: Trace, locale: str) -> None:
    """Follow the same steps as the site, until one gives a response."""
    path, form = found.path, canonical_form(found.path)
    written = _("This site writes this address as %(path)s.") % {"path": path}
    other = _("This site writes the address as %(form)s.") % {"form": form}
    found.add("address", form == path, written if form == path else other, canonicalPath=form)
    found.add(
        "locale",
        True,
        _("The language of the address is %(language)s.") % {"language": language_name(locale)},
        locale=locale,
    )
    if try_system(found):
        return
    if try_post(found, path, locale, "page", 200):
        return
    if try_list(found, path, locale) or try_feed_or_markdown(found, path, locale):
        return
    if form != path and try_post(found, form, locale_of(form), "moved", 301):
        found.location = form
        return
    if form != path and (
        _without_locale(form) in _SYSTEM_PAGES or listing_at(form, locale_of(form))
    ):
        found.end("moved", 301, form)
        return
    target = target_of(path)
    if target is None:
        found.add("redirect", False, f"No redirect that is active leads on from {form}.")
        return
    found.add("redirect", True, f"A redirect leads to {target.to_path}.", redirectId=str(target.id))
    found.end("redirect", target.status, target.to_path)


def try_system(found: Trace) -> bool:
    """Add the step for responses of the system, such as admin, API, files and sitemap. Return True if
    there is one."""
    try:
        match = resolve(found.path)
    except Resolver404:
        match = None
    own = _without_locale(found.path)
    if match is not None and match.url_name == "page" and own not in _SYSTEM_PAGES:
        return False
    what = own if own in _SYSTEM_PAGES else (match.url_name if match else None)
    found.add(
        "system",
        True,
        "The system answers here itself; no post and no redirect is looked for.",
        view=what,
    )
    found.end("system", 200)
    return True


def _without_locale(path: str) -> str:
    """Return the path without its language prefix."""
    return path.removeprefix(home_path(locale_of(path)))


def try_post(found: Trace, path: str, locale: str, outcome: Outcome, status: int) -> bool:
    """Add the step for the published post at a path. Return True if there is one."""
    post = published_at(path, locale).first()
    if post is None:
        found.add("post", False, f"No published post stands at {path}.")
        return False
    sentence = _("The %(type)s %(title)r has the address %(path)s.") % {
        "type": post.type,
        "title": post.title,
        "path": path,
    }
    found.add("post", True, sentence, postId=str(post.pk), type=post.type)
    found.end(outcome, status)
    return True


def try_list(found: Trace, path: str, locale: str) -> bool:
    """Add the step for a list of posts. Return True if it is shown."""
    listing = listing_at(path, locale)
    if listing is None:
        return False
    is_shown = list_posts_of(listing).exists()
    why = f"stands at {path}." if is_shown else f"would stand at {path}; none of them is published."
    sentence = _("The list of %(type)s posts %(why)s") % {"type": listing.type, "why": why}
    found.add("list", is_shown, sentence, type=listing.type, term=listing.term or None)
    if is_shown:
        found.end("list", 200)
    return is_shown


def try_feed_or_markdown(found: Trace, path: str, locale: str) -> bool:
    """Add the step for a list's feed, or a page as Markdown. Return True if there is one."""
    type_ = feed_at(path, locale)
    page = page_in_markdown(path)
    if type_ is not None and try_list(found, list_path(type_, locale), locale):
        found.add("form", True, f"{path} is its feed.")
        return True
    if page is None:
        return False
    if try_post(found, page, locale, "page", 200) or try_list(found, page, locale):
        found.add("form", True, f"{path} is its page as Markdown.")
        return True
    return False


def explain_patterns(found: Trace, locale: str, actor: Actor) -> None:
    """Add a step for each URL pattern: whether the path matches, and the posts it could mean."""
    for type_ in post_types:
        pattern = pattern_of(type_.name, locale)
        slug = slug_in(pattern, found.path, locale)
        if slug is None:
            found.add(
                "pattern",
                False,
                f"It does not fit {pattern} of {type_.name}.",
                type=type_.name,
                pattern=pattern,
            )
            continue
        posts = Post.objects.filter(type=type_.name, locale=locale, slug=slug, variation_of=None)
        seen = [
            post
            for post in posts.order_by("pk")[:_MAX_POSTS]
            if actor.can("posts.view", post)
            or (post.status == "published" and not post.deleted_at and not post.is_placeholder)
        ]
        sentences = [explain_post(post) for post in seen] or [
            f"There is no {type_.name} of the slug {slug!r}."
        ]
        found.add(
            "pattern", bool(seen), f"It fits {pattern}: {' '.join(sentences)}",
            type=type_.name, pattern=pattern, slug=slug, postIds=[str(post.pk) for post in seen],
        )  # fmt: skip


def explain_post(post: Post) -> str:
    """Return a sentence about the state of a post that a path could mean."""
    name = f"The {post.type} {post.title!r}"
    if post.deleted_at is not None:
        return _("%(name)s is in the trash.") % {"name": name}
    if post.is_placeholder:
        return _("A %(type)s proposed by an agent is waiting for approval.") % {"type": post.type}
    if post.status != "published":
        return _("%(name)s is %(status)s; its address is %(path)s.") % {
            "name": name,
            "status": post.status,
            "path": post.path,
        }
    return _("%(name)s has the address %(path)s.") % {"name": name, "path": post.path}


def slug_in(pattern: str, path: str, locale: str) -> str | None:
    """Return the slug in a path by a pattern, or None if it doesn't match."""
    prefix = "" if locale == settings.CMS_ENV.default_locale else f"/{locale}"
    bare = path.removeprefix(prefix)
    if canonical_form(path) == home_path(locale):
        return HOME_SLUG if "{path}" in pattern else None
    expression = ""
    for piece in re.split(r"(\{\w+\})", pattern.removeprefix("/{locale}")):
        name = piece[1:-1]
        is_variable = piece.startswith("{") and name in _VARIABLE_PATTERNS
        expression += f"(?P<{name}>{_VARIABLE_PATTERNS[name]})" if is_variable else re.escape(piece)
    fitting = re.fullmatch(expression, bare.rstrip("/"))
    if fitting is None:
        return None
    values = fitting.groupdict()
    # The last part of a path is the slug of the post.
    return values.get("slug") or values["path"].rsplit("/", 1)[-1]
