from proofroom.definitions import PostType, TaxonomyUse


class Blog(PostType):
    name = "blog"
    label = "Blog post"
    label_plural = "Blog posts"
    description = "A dated article, listed in the blog."
    url_pattern = "/blog/{slug}"
    index_path = "blog"
    list_label = "Blog"
    module_groups = ("blog-default",)
    default_module_group = "blog-default"
    taxonomies = (TaxonomyUse("topics", max_selections=3), TaxonomyUse("tags", max_selections=10))
