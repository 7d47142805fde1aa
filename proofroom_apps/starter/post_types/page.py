from proofroom.definitions import PostType


class Page(PostType):
    name = "page"
    label = "Page"
    label_plural = "Pages"
    description = "A page in the page tree."
    hierarchical = True
    url_pattern = "/{path}"
    module_groups = ("page-default",)
    default_module_group = "page-default"
