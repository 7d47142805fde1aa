from proofroom.definitions import GroupModule, ModuleGroupDefinition


class PageDefault(ModuleGroupDefinition):
    name = "page-default"
    label = "Page"
    description = "A hero and text."
    post_type = "page"
    modules = (GroupModule("hero"), GroupModule("prose"))
