"""Documents for property tests: few ids and few values, so that edits often collide."""

from __future__ import annotations

from hypothesis import strategies as st

from content.document.document import ModuleDocument, PostDocument
from proofroom.core.json import Json

IDS = ["a", "b", "c", "d", "e", "f"]
values: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, False, 0, 1, "", "one", "two", ["x"], {"k": [1, {"t": None}]}]
)
props = st.dictionaries(st.sampled_from(["title", "body", "items"]), values, max_size=3)


@st.composite
def modules(draw: st.DrawFn, id_: str) -> ModuleDocument:
    return ModuleDocument(
        id=id_,
        type="hero" if id_ != "f" else draw(st.sampled_from(["hero", "prose"])),
        instance_id=f"i-{id_}",
        props=draw(props),
        overrides=draw(props),
    )


@st.composite
def documents(draw: st.DrawFn) -> PostDocument:
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, max_size=6))
    return PostDocument(
        type="blog",
        locale="en",
        fields={
            "title": draw(values),
            "slug": draw(values),
            **draw(st.dictionaries(st.sampled_from(["customFields.x", "customFields.y"]), values)),
        },
        modules=tuple(draw(modules(id_)) for id_ in ids),
        taxonomy_term_ids=tuple(sorted(draw(st.sets(st.sampled_from(["t1", "t2"]))))),
    )


@st.composite
def edits(draw: st.DrawFn, base: PostDocument) -> PostDocument:
    """Strategy for a document similar to `base`, like one side of a merge."""
    other = draw(documents())
    keep = draw(st.sets(st.sampled_from(IDS)))
    pool = {module.id: module for module in other.modules}
    pool |= {module.id: module for module in base.modules if module.id in keep}
    order = draw(st.one_of(st.permutations(list(pool)), st.just(sorted(pool))))
    fields = base.fields if draw(st.booleans()) else other.fields
    return PostDocument(
        type="blog",
        locale="en",
        fields=fields,
        modules=tuple(pool[id_] for id_ in order),
        taxonomy_term_ids=draw(st.sampled_from([base, other])).taxonomy_term_ids,
    )


@st.composite
def sides(draw: st.DrawFn) -> tuple[PostDocument, PostDocument, PostDocument]:
    base = draw(documents())
    return base, draw(edits(base)), draw(edits(base))
