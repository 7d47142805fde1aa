from __future__ import annotations

from proofroom.definitions import (
    AIGuidance,
    Listing,
    ListingProps,
    PostReference,
    TaxonomyReference,
)


class BlogList(Listing):
    name = "blog-list"
    label = "Blog posts"
    description = "Cards of blog posts: the newest, by topic, or selected ones in your order."
    icon = "book"
    post_type = "blog"
    ai = AIGuidance(
        layout_roles=("support", "closing"),
        use_when=(
            "leading readers from a page on to articles",
            "the newest articles belong on the home page",
        ),
        avoid_when=("one article only: link to it in the text, or use a callout",),
        composition_notes=(
            "Three or six cards fill whole rows. Leave postIds empty for the newest, which need no upkeep; termId "
            "narrows them to a topic. Nothing is shown where no post is published."
        ),
    )

    class Props(ListingProps):
        post_ids: list[str] = PostReference(
            many=True,
            post_type="blog",
            label="Selected posts",
            help="Leave blank to show the newest.",
        )
        term_id: str | None = TaxonomyReference(
            translatable=True, label="Only this topic", help="Of the newest posts."
        )
