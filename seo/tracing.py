"""Why an address answers as it does: every step on the way to a page, a redirect or nothing. Changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from django.conf import settings
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _

from content.definitions import post_types
from content.models import Post
from content.paths import HOME_SLUG, pattern_of
from content.queries import published_posts
from content.site.addresses import (
    LLMS,
    SEARCH,
    canonical_form,
    home_of,
    locale_of,
    page_in_markdown,
)
from content.site.list_addresses import feed_at, list_path, listing_at
from content.site.list_queries import extents
from core.actor import Actor
from core.errors import invalid
from core.json import JsonObject
from seo.models import ADDRESS_MAX
from seo.queries import target_of

Outcome = Literal["page", "list", "system", "moved", "redirect", "nothing"]
StepName = Literal["address", "locale", "system", "post", "list", "form", "redirect", "pattern"]
_SHAPES: Final[Mapping[str, str]] = {
    "slug": r"[^/]+", "path": r".+", "locale": r"[^/]+", "yyyy": r"\d{4}", "mm": r"\d\d", "dd": r"\d\d",
}  # fmt: skip
_OWN: Final = (SEARCH, LLMS)
_MOST: Final = 20
"""Posts that one step looks at."""


@dataclass(frozen=True, slots=True)
class Step:
    """`name` says what was asked, `found` whether it decided; `sentence` is for a person."""

    name: StepName
    found: bool
    sentence: str
    facts: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class Trace:
    """The way of an address through the site."""

    path: str
    outcome: Outcome = "nothing"
    status: int = 404
    location: str | None = None
    steps: list[Step] = field(default_factory=list)

    def add(self, name: str, found: bool, sentence: str, **facts: object) -> None:
        self.steps.append(Step(name, found, sentence, facts))  # type: ignore[arg-type]  # its own names

    def ends(self, outcome: Outcome, status: int, location: str | None = None) -> None:
        self.outcome, self.status, self.location = outcome, status, location


def trace(path: str, actor: Actor) -> Trace:
    """The steps that answer a path. Drafts are spoken of only to who may see posts."""
    actor.require_diagnosis("seo.manage")
    found = Trace(_checked(path))
    _follow(found, locale_of(found.path))
    if found.outcome in ("nothing", "redirect"):
        _explain(found, locale_of(found.path), actor)
    return found


def _checked(path: str) -> str:
    path = path.split("#")[0].split("?")[0]
    if not path.startswith("/") or path.startswith("//"):
        raise invalid("path", _("path is a path of this site: it begins with one /."))
    if len(path) > ADDRESS_MAX or not path.isprintable():
        raise invalid(
            "path",
            _("path has at most %(address_max)s characters, all of them printable.")
            % {"address_max": f"{ADDRESS_MAX:,}"},
        )
    return path


def _follow(found: Trace, locale: str) -> None:
    """The way of the site itself, until something answers."""
    path, form = found.path, canonical_form(found.path)
    found.add("address", form == path, _of_form(path, form), canonicalPath=form)
    found.add("locale", True, f"The language of the address is {locale}.", locale=locale)
    if _is_system(found):
        return
    if _is_published(found, path, locale, "page", 200):
        return
    if _is_list(found, path, locale) or _is_other_form(found, path, locale):
        return
    if form != path and _is_published(found, form, locale_of(form), "moved", 301):
        found.location = form
        return
    if form != path and (_own_part(form) in _OWN or listing_at(form, locale_of(form))):
        found.ends("moved", 301, form)
        return
    target = target_of(path)
    if target is None:
        found.add("redirect", False, f"No redirect that is active leads on from {form}.")
        return
    found.add("redirect", True, f"A redirect leads to {target.to_path}.", redirectId=str(target.id))
    found.ends("redirect", target.status, target.to_path)


def _of_form(path: str, form: str) -> str:
    return (
        _("%(path)s is written as the site writes it.") % {"path": path}
        if form == path
        else _("The site writes it %(form)s.") % {"form": form}
    )


def _is_system(found: Trace) -> bool:
    """Whether something else than the site's pages answers: the admin, the API, files, the sitemap."""
    try:
        match = resolve(found.path)
    except Resolver404:
        match = None
    own = _own_part(found.path)
    if match is not None and match.url_name == "page" and own not in _OWN:
        return False
    what = own if own in _OWN else (match.url_name if match else None)
    found.add(
        "system",
        True,
        "The system answers here itself; no post and no redirect is looked for.",
        view=what,
    )
    found.ends("system", 200)
    return True


def _own_part(path: str) -> str:
    """What stands behind the prefix of the language."""
    return path.removeprefix(home_of(locale_of(path)))


def _is_published(found: Trace, path: str, locale: str, outcome: Outcome, status: int) -> bool:
    post = published_posts().filter(path=path, locale=locale).order_by("published_at", "id").first()
    if post is None:
        found.add("post", False, f"No published post stands at {path}.")
        return False
    sentence = _("The %(type)s %(title)r stands at %(path)s.") % {
        "type": post.type,
        "title": post.title,
        "path": path,
    }
    found.add("post", True, sentence, postId=str(post.pk), type=post.type)
    found.ends(outcome, status)
    return True


def _is_list(found: Trace, path: str, locale: str) -> bool:
    listing = listing_at(path, locale)
    if listing is None:
        return False
    is_shown = locale in extents(listing)
    why = f"stands at {path}." if is_shown else f"would stand at {path}; none of them is published."
    sentence = _("The list of %(type)s posts %(why)s") % {"type": listing.type, "why": why}
    found.add("list", is_shown, sentence, type=listing.type, term=listing.term or None)
    if is_shown:
        found.ends("list", 200)
    return is_shown


def _is_other_form(found: Trace, path: str, locale: str) -> bool:
    """A feed of a list, or a page as Markdown."""
    type_ = feed_at(path, locale)
    page = page_in_markdown(path)
    if type_ is not None and _is_list(found, list_path(type_, locale), locale):
        found.add("form", True, f"{path} is its feed.")
        return True
    if page is None:
        return False
    if _is_published(found, page, locale, "page", 200) or _is_list(found, page, locale):
        found.add("form", True, f"{path} is its page as Markdown.")
        return True
    return False


def _explain(found: Trace, locale: str, actor: Actor) -> None:
    """What would have stood there: each pattern that the path fits, and the posts that it could mean."""
    may_see = actor.can("posts.view")
    for type_ in post_types:
        pattern = pattern_of(type_.name, locale)
        slug = _slug_in(pattern, found.path, locale)
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
        seen = [post for post in posts.order_by("pk")[:_MOST] if may_see or _is_live(post)]
        sentences = [_why_not(post) for post in seen] or [
            f"There is no {type_.name} of the slug {slug!r}."
        ]
        found.add(
            "pattern", bool(seen), f"It fits {pattern}: {' '.join(sentences)}",
            type=type_.name, pattern=pattern, slug=slug, postIds=[str(post.pk) for post in seen],
        )  # fmt: skip


def _is_live(post: Post) -> bool:
    return post.status == "published" and post.deleted_at is None and not post.is_placeholder


def _why_not(post: Post) -> str:
    name = f"The {post.type} {post.title!r}"
    if post.deleted_at is not None:
        return _("%(name)s is in the trash.") % {"name": name}
    if post.is_placeholder:
        return _("A %(type)s that an agent proposed waits for approval.") % {"type": post.type}
    if post.status != "published":
        return _("%(name)s is %(status)s; its address is %(path)s.") % {
            "name": name,
            "status": post.status,
            "path": post.path,
        }
    return _("%(name)s stands at %(path)s.") % {"name": name, "path": post.path}


def _slug_in(pattern: str, path: str, locale: str) -> str | None:
    """The slug that a path has by a pattern; None where it does not fit."""
    prefix = "" if locale == settings.CMS_ENV.default_locale else f"/{locale}"
    bare = path.removeprefix(prefix)
    if canonical_form(path) == home_of(locale):
        return HOME_SLUG if "{path}" in pattern else None
    fitting = re.fullmatch(_expression(pattern.removeprefix("/{locale}")), bare.rstrip("/"))
    if fitting is None:
        return None
    values = fitting.groupdict()
    return values.get("slug") or values["path"].rsplit("/", 1)[-1]


def _expression(pattern: str) -> str:
    return "".join(_pieces(pattern))


def _pieces(pattern: str) -> Iterator[str]:
    for piece in re.split(r"(\{\w+\})", pattern):
        name = piece[1:-1]
        is_variable = piece.startswith("{") and name in _SHAPES
        yield f"(?P<{name}>{_SHAPES[name]})" if is_variable else re.escape(piece)
