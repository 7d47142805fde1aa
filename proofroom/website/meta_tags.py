"""Meta tags of a page, for search engines and other sites, and its description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypedDict

from django.conf import settings

from content.menus.links import Alternate, Crumb
from content.models import Post
from content.posts.post_repository import format_time
from media.presenters import SiteImage
from proofroom.core.json import Json, JsonObject
from proofroom.core.site_urls import absolute, markdown_path
from proofroom.definitions import custom_text_of, text_of
from proofroom.website.rendering import RenderableModule
from proofroom.website.structured_data import PageFacts, breadcrumb_list, build_structured_data

_LONGEST: Final = 160


def description_of(post: Post, items: Sequence[RenderableModule]) -> str:
    """Return what its authors wrote for that, else the first words of the page, else the title."""
    written = one_line(post.meta_description or "") or one_line(post.excerpt)
    return written or first_words(" ".join(_texts(post, items))) or post.title


def one_line(text: str) -> str:
    return " ".join(text.split())


def first_words(text: str, longest: int = _LONGEST) -> str:
    """The beginning of a text in one line, cut between two words where it is longer."""
    line = one_line(text[: longest * 4])
    if len(line) <= longest:
        return line
    cut = line[:longest].rpartition(" ")[0] or line[: longest - 1]
    return f"{cut.rstrip(' ,;:–-')}…"


def _texts(post: Post, items: Sequence[RenderableModule]) -> Iterator[str]:
    yield custom_text_of(post.type, post.custom_fields)
    size = 0
    for item in items:
        text = text_of(item.type, item.props)
        size += len(text)
        yield text
        if size > _LONGEST * 4:
            return


class SeoAlternate(TypedDict):
    locale: str
    url: str


class SeoImage(TypedDict):
    url: str
    alt: str
    width: int | None
    height: int | None


class Seo(TypedDict):
    """The names that `templates/site/head.html` reads. `markdown` is where the page is as Markdown."""

    title: str
    description: str
    robots: str
    canonical: str
    alternates: list[SeoAlternate]
    markdown: str
    og_type: str
    published: str | None
    modified: str | None
    image: SeoImage | None
    json_ld: list[JsonObject]


def seo_of_post(
    post: Post, told: PageFacts, *, crumbs: Sequence[Crumb], alternates: Sequence[Alternate]
) -> Seo:
    """Of a post."""
    is_article = post.type == "blog"
    return Seo(
        title=post.meta_title or title_with_site(post.title, told.site_name),
        description=told.description,
        robots=robots_of(post.robots_json),
        canonical=told.canonical,
        # A page that names another as the original must not offer itself in other languages.
        alternates=seo_alternates(alternates) if is_original(post) else [],
        markdown=markdown_path(post.path),
        og_type="article" if is_article else "profile" if post.type == "profile" else "website",
        published=format_time(post.published_at) if is_article else None,
        modified=format_time(post.updated_at) if is_article else None,
        image=_shared_image(told.image),
        json_ld=[*build_structured_data(post, told), *breadcrumb_list(crumbs)],
    )


def canonical_of(post: Post) -> str:
    """The one address that the post is to be found at, which may be on another site."""
    return post.canonical_url or absolute(post.path)


def is_original(post: Post) -> bool:
    """Return whether the post is to be found at its own address, be it said or not."""
    return canonical_of(post) == absolute(post.path)


def seo_of_list(
    title: str,
    path: str,
    *,
    description: str,
    crumbs: Sequence[Crumb],
    alternates: Sequence[Alternate],
    number: int = 1,
) -> Seo:
    """Of a list of posts; every page of it stands for itself."""
    return Seo(
        title=title,
        description=description,
        robots="",
        canonical=absolute(path) + (f"?page={number}" if number > 1 else ""),
        alternates=seo_alternates(alternates) if number == 1 else [],
        markdown=markdown_path(path) if number == 1 else "",
        og_type="website",
        published=None,
        modified=None,
        image=None,
        json_ld=breadcrumb_list(crumbs),
    )


def seo_of_search(title: str) -> Seo:
    """Of what is nothing for search engines."""
    return Seo(
        title=title,
        description="",
        robots="noindex",
        canonical="",
        alternates=[],
        markdown="",
        og_type="website",
        published=None,
        modified=None,
        image=None,
        json_ld=[],
    )


def title_with_site(title: str, site_name: str) -> str:
    return f"{title} · {site_name}" if site_name and site_name != title else title


def robots_of(robots: Mapping[str, Json] | None) -> str:
    """`{"index": false, "follow": false}` as the content of the meta element; empty allows both."""
    robots = robots or {}
    words = ["noindex"] if robots.get("index") is False else []
    return ", ".join(words + (["nofollow"] if robots.get("follow") is False else []))


def seo_alternates(found: Sequence[Alternate]) -> list[SeoAlternate]:
    """For hreflang: each language with a full address, and the default one for everybody else."""
    if len(found) < 2:
        return []
    links = [SeoAlternate(locale=item["locale"], url=absolute(item["url"])) for item in found]
    default = next(
        (link for link in links if link["locale"] == settings.CMS_ENV.default_locale), links[0]
    )
    return [*links, SeoAlternate(locale="x-default", url=default["url"])]


def _shared_image(image: SiteImage | None) -> SeoImage | None:
    if image is None:
        return None
    return SeoImage(
        url=absolute(image["url"]),
        alt=image["alt"],
        width=image["width"],
        height=image["height"],
    )
