"""The prompts: what each asks of a model, call by call, in the names that the tools have."""

from __future__ import annotations

from typing import Final

from mcp_bridge.protocol.prompt_arguments import (
    AGENT,
    BRIEF,
    LOCALE,
    POST,
    POST_TYPE,
    Argument,
    Prompt,
)

_AS_AGENT: Final = Argument(AGENT, "Id of the agent to write as", is_required=False)
_FURTHER: Final = {
    "agentId": "Pass agentId {agentId} to every tool that takes it.",
    "locale": "Write it in the language {locale}, and pass locale {locale} to create_post_ai_review.",
}
_ENDING: Final = (
    "submit_ai_review_to_review with a note on what changed and why. What it answers as a conflict, "
    "a person staged otherwise: leave it. Then tell me what you proposed; a person approves it."
)

WRITE_POST: Final = Prompt(
    "write-post",
    "Write a post",
    "Draft a new post from a brief.",
    {
        "type": Argument(POST_TYPE, "Post type, for example blog"),
        "brief": Argument(BRIEF, "What to write, and for whom"),
        "locale": Argument(LOCALE, "Language code; the site's own without it", is_required=False),
        "agentId": _AS_AGENT,
    },
    f"""\
Draft a new post of the type {{type}} from the brief at the end. Call these tools in order:
1. get_post_type_config with postType {{type}}: its fields, limits, taxonomies and module groups.
2. suggest_modules_for_layout with postType {{type}} and the brief: what the page needs. Choose the module group \
that comes nearest; get_module_group lists its modules.
3. get_module_schema for each module type that you will fill.
4. Where a picture helps: search_media, and use the id of a file whose altText fits. Only if the brief asks for \
a new picture and none fits: generate_image, which costs money.
5. create_post_ai_review with type, title, excerpt, moduleGroupName and moduleEdits, one for each module: its \
type and orderIndex with props, or with contentMarkdown for prose. Look into appliedModuleEdits of the answer: \
what failed, mend with update_post_module_ai_review and the postModuleId from seededModules. What the group \
lacks, add with add_module_to_post_ai_review; what stays empty, remove with remove_post_module_ai_review.
6. save_post_ai_review with the postId and a patch of metaTitle (at most 60 characters), metaDescription (at \
most 155) and, if you chose a picture, featuredMediaId.
7. get_post_context with the postId: read what you staged, and mend it.
8. {_ENDING}
Write no facts that the brief does not give; say what is missing instead.{{further}}

{{brief}}""",
    _FURTHER,
)

IMPROVE_SEO: Final = Prompt(
    "improve-seo",
    "Improve SEO",
    "Better title, description and headings for a post.",
    {"postId": Argument(POST, "Id of the post; type words of its title"), "agentId": _AS_AGENT},
    f"""\
Improve how search engines show the post {{postId}}. Call these tools in order:
1. get_post_context with postId {{postId}}: read all of it, and what is staged already.
2. save_post_ai_review with a patch of metaTitle (at most 60 characters) and metaDescription (at most 155) that \
say what the post offers, in its own language. Leave out what is good already.
3. Only for headings that say nothing: get_module_schema for the module's type, then \
update_post_module_ai_review with the postModuleId and just those props.
4. {_ENDING}
Keep every fact, the slug and the meaning. If nothing needs to change, stage nothing and say so.{{further}}""",
    {"agentId": _FURTHER["agentId"]},
)

TRANSLATE_POST: Final = Prompt(
    "translate-post",
    "Translate a post",
    "Translate a post into another locale.",
    {
        "postId": Argument(POST, "Id of the post; type words of its title"),
        "locale": Argument(LOCALE, "Language code to translate into"),
        "agentId": _AS_AGENT,
    },
    f"""\
Translate the post {{postId}} into {{locale}}. Call these tools in order:
1. get_post_context with postId {{postId}}: read all of it.
2. list_post_translations with postId {{postId}}. If {{locale}} is among them, work on the post that it names: \
read it with get_post_context and go on with step 4.
3. create_translation_ai_review with postId {{postId}}, locale {{locale}}, a slug, fields (title, excerpt, metaTitle \
and metaDescription, translated; leave out what the original does not have), and modules: for each module with text \
its postModuleId as sourcePostModuleId, and just the props that hold text, translated. It answers translationId, and \
for each module its postModuleId and in translatable the props that hold text.
4. For what is not translated yet: update_post_module_ai_review with the postModuleId of a module and just those \
props, prose in contentMarkdown; save_post_ai_review with a patch of the fields.
5. get_post_context with the translation's id: nothing may be left in the old language.
6. {_ENDING} Submit the translation's id, not {{postId}}.
Keep names, links, numbers, Markdown and the order of things. Translate what is said; add nothing.{{further}}""",
    {"agentId": _FURTHER["agentId"]},
)

REVIEW_CHANGES: Final = Prompt(
    "review-changes",
    "Review the changes",
    "Check what is staged on a post before a person does.",
    {"postId": Argument(POST, "Id of the post; type words of its title")},
    """\
Check what is staged on the post {postId} before a person decides on it. Call these tools and no others:
1. get_post_context with postId {postId} and format full: what is live, what is staged, and by whom.
2. get_module_schema for each type of module that was changed: what its props are for.
Then answer with a list, one entry for each staged change: its path, what it improves, what it risks, and every \
fact in it that the live content does not support. End with what you would take, and what not. Change nothing: a \
person decides.""",
)

TEXTS: Final = (WRITE_POST, IMPROVE_SEO, TRANSLATE_POST, REVIEW_CHANGES)
