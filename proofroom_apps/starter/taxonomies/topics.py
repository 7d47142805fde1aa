from proofroom.definitions import Taxonomy


class Topics(Taxonomy):
    name = "topics"
    label = "Topics"
    description = "What a post is about, from general to specific."
    hierarchical = True
