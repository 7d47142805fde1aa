from __future__ import annotations

from proofroom.definitions import (
    AIGuidance,
    Listing,
    ListingProps,
    PostReference,
    TaxonomyReference,
)


class ProfileList(Listing):
    name = "profile-list"
    label = "People"
    description = "Cards of people with image, name and role, such as a team, authors or speakers."
    icon = "people"
    post_type = "profile"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("showing who stands behind something: a team, authors, speakers",),
        avoid_when=(
            "what people say about the work: use testimonial-list",
            "one person only: use prose-with-media",
        ),
        composition_notes=(
            "Choose the people in the order in which they should appear; empty postIds shows the newest. Three, four "
            "or six cards look best."
        ),
    )

    class Props(ListingProps):
        post_ids: list[str] = PostReference(
            many=True,
            post_type="profile",
            label="Selected people",
            help="Leave blank to show the newest.",
        )
        term_id: str | None = TaxonomyReference(
            translatable=True, label="Only this term", help="Of the newest."
        )
