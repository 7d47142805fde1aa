from proofroom.definitions import MediaField, ModuleProps, PostType, Text, Url


class Company(PostType):
    name = "company"
    label = "Company"
    label_plural = "Companies"
    description = "An organisation: a customer, a partner, a member."
    url_pattern = "/companies/{slug}"
    index_path = "companies"
    module_groups = ("company-default",)
    default_module_group = "company-default"

    class CustomFields(ModuleProps):
        website: str = Url()
        industry: str = Text(max_length=120, filterable=True)
        logo_id: str | None = MediaField(label="Logo")
