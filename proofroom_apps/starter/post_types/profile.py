from proofroom.definitions import ModuleProps, PostType, Text, Url


class Profile(PostType):
    name = "profile"
    label = "Profile"
    label_plural = "Profiles"
    description = "A person, such as an author, a team member or a speaker."
    url_pattern = "/people/{slug}"
    index_path = "people"
    list_label = "People"
    module_groups = ("profile-default",)
    default_module_group = "profile-default"

    class CustomFields(ModuleProps):
        role: str = Text(
            max_length=120, filterable=True, help="What the person does, as shown below the name."
        )
        email: str = Text(max_length=254, translatable=False, help="Shown publicly.")
        website: str = Url()
