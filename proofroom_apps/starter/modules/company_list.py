from __future__ import annotations

from proofroom.definitions import (
    AIGuidance,
    Listing,
    ListingProps,
    PostReference,
    TaxonomyReference,
)


class CompanyList(Listing):
    name = "company-list"
    label = "Companies"
    description = (
        "Cards of organisations with logo, name and industry, such as customers, "
        "partners or members."
    )
    icon = "globe"
    post_type = "company"
    ai = AIGuidance(
        layout_roles=("support", "body"),
        use_when=("naming customers, partners or members, each with a page of its own",),
        avoid_when=("logos alone, without pages: use logos",),
        composition_notes=(
            "Choose the companies in the order in which they should appear; empty postIds shows the newest."
        ),
    )

    class Props(ListingProps):
        post_ids: list[str] = PostReference(
            many=True,
            post_type="company",
            label="Selected companies",
            help="Leave blank to show the newest.",
        )
        term_id: str | None = TaxonomyReference(
            translatable=True, label="Only this term", help="Of the newest."
        )
