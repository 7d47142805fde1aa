from proofroom.definitions import GroupModule, ModuleGroupDefinition


class PageDefault(ModuleGroupDefinition):
    name = "page-default"
    label = "Page"
    description = "An opening and running text."
    post_type = "page"
    modules = (GroupModule("hero"), GroupModule("prose"))
