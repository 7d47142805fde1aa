-- Insert a post that an agent proposes, with its first revision. Returns false if another post has its place.
-- The live columns of such a post are a placeholder: what it says is in AI Review.
DECLARE
  templates CONSTANT jsonb := {templates};
  made {tables}.content_post := jsonb_populate_record(NULL::{tables}.content_post, post);
  opening {tables}.content_revision := jsonb_populate_record(NULL::{tables}.content_revision, revision);
  source {tables}.content_post;
  moment timestamptz := statement_timestamp();
BEGIN
  IF to_jsonb(made) - ARRAY[{own_columns}] IS DISTINCT FROM templates -> made.type THEN
    RAISE EXCEPTION 'A proposed post has other values than those of its type. Run manage.py install_lane after a change of post types.'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF made.slug !~ '^proposed-[0-9a-f]{12}$' OR strpos(made.path, made.slug) = 0
    OR abs(extract(epoch FROM made.created_at - moment)) > 600 OR made.updated_at > moment + interval '10 minutes'
  THEN
    RAISE EXCEPTION 'A proposed post has a placeholder for its slug, and is new.' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF made.translated_from_id IS NULL THEN
    IF made.parent_id IS NOT NULL OR made.order_index <> 0
      OR EXISTS (SELECT FROM {tables}.content_post p WHERE p.translation_group = made.translation_group)
    THEN
      RAISE EXCEPTION 'A proposed post has no place in the tree yet.' USING ERRCODE = 'insufficient_privilege';
    END IF;
  ELSE
    SELECT * INTO source FROM {tables}.content_post p WHERE p.id = made.translated_from_id;
    IF source.id IS NULL OR made.translation_group <> source.translation_group OR made.type <> source.type
      OR made.order_index <> source.order_index
      OR made.parent_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM {tables}.content_post mine JOIN {tables}.content_post theirs USING (translation_group)
        WHERE mine.id = made.parent_id AND mine.locale = made.locale AND theirs.id = source.parent_id)
    THEN
      RAISE EXCEPTION 'A translation has the place of its source.' USING ERRCODE = 'insufficient_privilege';
    END IF;
  END IF;
  IF opening.post_id IS DISTINCT FROM made.id OR opening.version <> 1 OR opening.reason <> 'created' OR opening.note <> ''
    OR opening.changed_paths <> '[]' OR opening.document -> 'modules' <> '[]' OR opening.document -> 'taxonomyTermIds' <> '[]'
    OR opening.document -> 'post' ->> 'title' IS DISTINCT FROM made.title
    OR opening.document -> 'post' ->> 'slug' IS DISTINCT FROM made.slug
    OR opening.document -> 'post' -> 'customFields' IS DISTINCT FROM made.custom_fields
  THEN
    RAISE EXCEPTION 'The first revision of a proposed post is empty.' USING ERRCODE = 'insufficient_privilege';
  END IF;
  IF tags ~ '[^ -~]' OR length(tags) > {max_tags} THEN
    RAISE EXCEPTION 'Tags of the cache are one short line.' USING ERRCODE = 'insufficient_privilege';
  END IF;
  INSERT INTO {tables}.content_post SELECT (made).* ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO {tables}.content_revision SELECT (opening).*;
  INSERT INTO {tables}.proofroom_core_contentversion AS version (id, number, moved_at, changes, epoch)
    VALUES (1, 1, moment, '', md5(random()::text))
    ON CONFLICT (id) DO UPDATE SET
      number = version.number + 1,
      moved_at = greatest(moment, version.moved_at + interval '1 second' + interval '100 milliseconds' * random()),
      changes = left((version.number + 1)::text || ' ' || version.moved_at::text || ' ' || tags || E'\n' || version.changes,
                     {max_changes});
  RETURN true;
END
