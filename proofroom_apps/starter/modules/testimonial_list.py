from __future__ import annotations

from proofroom.definitions import (
    AIGuidance,
    Listing,
    ListingProps,
    PostReference,
    TaxonomyReference,
)


class TestimonialList(Listing):
    name = "testimonial-list"
    label = "Testimonials"
    description = "What people say about the work: quotes with name, role, image and rating."
    icon = "heart"
    post_type = "testimonial"
    ai = AIGuidance(
        layout_roles=("support",),
        use_when=(
            "a claim on the page needs support from another person",
            "before a call to action",
        ),
        avoid_when=("one quote that is not a testimonial: use blockquote",),
        composition_notes=(
            "Two or three quotes are enough. They are posts of the type testimonial; never invent one. Empty postIds "
            "shows the newest."
        ),
    )

    class Props(ListingProps):
        post_ids: list[str] = PostReference(
            many=True,
            post_type="testimonial",
            label="Selected testimonials",
            help="Leave blank to show the newest.",
        )
        term_id: str | None = TaxonomyReference(
            translatable=True, label="Only this term", help="Of the newest."
        )
