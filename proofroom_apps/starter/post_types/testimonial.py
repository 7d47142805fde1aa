from proofroom.definitions import MediaField, ModuleProps, Number, PostType, Text, Textarea


class Testimonial(PostType):
    name = "testimonial"
    label = "Testimonial"
    label_plural = "Testimonials"
    description = "What somebody says about the work; other pages quote it."
    url_pattern = "/testimonials/{slug}"
    # It is quoted on other pages, so its own page would be duplicate content.
    seo_defaults = {"noindex": True, "nofollow": False, "robotsJson": {"index": False}}

    class CustomFields(ModuleProps):
        quote: str = Textarea(max_length=1200)
        author_name: str = Text(max_length=120, translatable=False)
        author_role: str = Text(max_length=120)
        company: str = Text(max_length=120, translatable=False, filterable=True)
        portrait_id: str | None = MediaField(label="Portrait")
        rating: int | None = Number(default=None, minimum=1, maximum=5, filterable=True)
