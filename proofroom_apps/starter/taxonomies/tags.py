from proofroom.definitions import Taxonomy


class Tags(Taxonomy):
    name = "tags"
    label = "Tags"
    description = "Keywords that connect posts across topics."
    free_tagging = True
