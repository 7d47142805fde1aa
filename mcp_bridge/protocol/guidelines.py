"""What an AI client should know before it proposes content: the resource `cms://guidelines`."""

GUIDELINES = """\
# Proposing content

- Three layers: live, Review, AI Review. You write AI Review only. A person reviews every change,
  field by field, and approves it.
- Read before you write: `get_post_context` for the post, `get_module_schema` for the props of a
  module, `get_post_type_config` for fields, templates and limits.
- Prefer the post's existing modules. Change what the task asks for and leave the rest: every path
  you stage is a path that a person must judge.
- Start a new post with `create_post_ai_review` and a module group; fill its modules through
  `moduleEdits`.
- Locked modules stay where they are; their props may change.
- Translate text, not structure: only the props marked `translatable`.
- Alternative text says what an image shows. Links name their target. Headings follow in order.
- Write no facts that are in neither the task nor the content; ask, or leave a gap and say so.
- When the proposal is complete, call `submit_ai_review_to_review` with a `note` on what changed
  and why.
- On a conflict the person's value stands. Read the post again and propose anew.
"""
