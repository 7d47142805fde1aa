from proofroom.definitions import GroupModule, ModuleGroupDefinition


class BlogDefault(ModuleGroupDefinition):
    name = "blog-default"
    label = "Article"
    description = "A fixed opening, the article, and questions with answers."
    post_type = "blog"
    modules = (
        GroupModule("hero", locked=True),
        GroupModule("prose"),
        GroupModule("faq"),
    )
