-- Store the draft of Review of a post, with changes that are staged in AI Review and nothing else.
DECLARE
  old {tables}.content_draft;
  ai {tables}.content_draft;
  live jsonb;
  wrong text;
  has_changes boolean;
  empty CONSTANT jsonb := '{"post": {}, "taxonomyTermIds": [], "modules": []}';
BEGIN
  PERFORM 1 FROM {tables}.content_post p WHERE p.id = of_post AND p.deleted_at IS NULL FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'There is no such post.' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT * INTO ai FROM {tables}.content_draft d WHERE d.post_id = of_post AND d.layer = 'ai-review' AND NOT d.is_empty;
  IF ai.id IS NULL THEN
    RAISE EXCEPTION 'Nothing is staged in AI Review.' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT * INTO old FROM {tables}.content_draft d WHERE d.post_id = of_post AND d.layer = 'review' FOR UPDATE;
  SELECT r.document INTO live FROM {tables}.content_revision r JOIN {tables}.content_post p ON p.id = r.post_id
    WHERE p.id = of_post AND r.version = p.version;

  IF NOT {lane}.is_document(new_base, '{}') OR NOT {lane}.is_document(new_document, new_marks) THEN
    RAISE EXCEPTION 'This is no document of a post.' USING ERRCODE = 'insufficient_privilege';
  END IF;

  -- Each value of the new Review is that of the old one, or one that is staged in AI Review and that no person staged
  -- otherwise.
  SELECT part.path INTO wrong FROM (
    SELECT path, nb.value AS nb, nd.value AS nd, ob.value AS ob, od.value AS od, ab.value AS ab, ad.value AS ad,
      live_part.value AS live,
      EXISTS (SELECT FROM {lane}.marks_at(old.marks, path)) AND NOT EXISTS (
        SELECT FROM {lane}.marks_at(old.marks, path) mark WHERE NOT {lane}.is_of_agent(mark)) AS is_of_agent
    FROM {lane}.parts(new_base) AS nb(path, value)
    FULL JOIN {lane}.parts(new_document) AS nd(path, value) USING (path)
    FULL JOIN {lane}.parts(coalesce(old.base, empty)) AS ob(path, value) USING (path)
    FULL JOIN {lane}.parts(coalesce(old.document, empty)) AS od(path, value) USING (path)
    FULL JOIN {lane}.parts(ai.base) AS ab(path, value) USING (path)
    FULL JOIN {lane}.parts(ai.document) AS ad(path, value) USING (path)
    LEFT JOIN {lane}.parts(coalesce(live, empty)) AS live_part(path, value) USING (path)
  ) part
  WHERE NOT CASE
    WHEN part.nd IS NOT DISTINCT FROM part.nb THEN
      -- Nothing is staged here any more: nothing was, AI Review took it back, or it is live by now.
      part.od IS NOT DISTINCT FROM part.ob
      OR (part.ad IS DISTINCT FROM part.ab AND part.nd IS NOT DISTINCT FROM part.ad AND part.is_of_agent)
      OR (part.nd IS NOT DISTINCT FROM part.od AND part.live IS NOT DISTINCT FROM part.od)
    ELSE
      (part.od IS DISTINCT FROM part.ob AND part.nd IS NOT DISTINCT FROM part.od)
      OR (part.ad IS DISTINCT FROM part.ab AND part.nd IS NOT DISTINCT FROM part.ad
          AND (part.od IS NOT DISTINCT FROM part.ob OR part.is_of_agent))
      -- Other parts of a module that was removed below, and is staged with a change.
      OR (starts_with(part.path, 'modules.') AND part.nb IS NULL
          AND (part.nd IS NOT DISTINCT FROM part.od OR part.nd IS NOT DISTINCT FROM part.ad)
          AND (part.od IS NOT DISTINCT FROM part.ob OR part.is_of_agent OR part.nd IS NOT DISTINCT FROM part.od))
    END
  LIMIT 1;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'The value at % is not staged in AI Review, or a person staged another one.', wrong
      USING ERRCODE = 'insufficient_privilege';
  END IF;

  -- A person's order stays.
  IF EXISTS (SELECT FROM jsonb_each(old.marks) mark WHERE mark.key LIKE 'modules.%.position' AND NOT {lane}.is_of_agent(mark.value))
    AND {lane}.common_order(new_document, old.document) IS DISTINCT FROM {lane}.common_order(old.document, new_document)
  THEN
    RAISE EXCEPTION 'A person staged another order of the modules.' USING ERRCODE = 'insufficient_privilege';
  END IF;

  -- Every author stays the author: a mark comes from either layer, and what a person staged keeps a person's mark.
  SELECT mark.key INTO wrong FROM jsonb_each(new_marks) mark
  WHERE NOT EXISTS (
    SELECT FROM (SELECT value FROM jsonb_each(old.marks) UNION ALL SELECT value FROM jsonb_each(ai.marks)) known
    WHERE known.value - ARRAY['drifted', 'conflict', 'note', 'reason'] = mark.value - ARRAY['drifted', 'conflict', 'note', 'reason'])
  LIMIT 1;
  IF wrong IS NULL THEN
    SELECT part.path INTO wrong
    FROM {lane}.parts(new_document) AS part(path, value)
    JOIN {lane}.parts(coalesce(old.document, empty)) AS od(path, value) USING (path)
    LEFT JOIN {lane}.parts(coalesce(old.base, empty)) AS ob(path, value) USING (path)
    LEFT JOIN {lane}.parts(ai.document) AS ad(path, value) USING (path)
    WHERE od.value IS DISTINCT FROM ob.value AND ad.value IS DISTINCT FROM od.value
      AND EXISTS (SELECT FROM {lane}.marks_at(old.marks, path) mark WHERE NOT {lane}.is_of_agent(mark))
      AND NOT EXISTS (SELECT FROM {lane}.marks_at(new_marks, path) mark WHERE NOT {lane}.is_of_agent(mark))
    LIMIT 1;
  END IF;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'The author at % is another one.', wrong USING ERRCODE = 'insufficient_privilege';
  END IF;

  has_changes := {lane}.common_order(new_base, new_document) IS DISTINCT FROM {lane}.common_order(new_document, new_base)
    OR EXISTS (
      SELECT FROM {lane}.parts(new_base) AS nb(path, value)
      FULL JOIN {lane}.parts(new_document) AS nd(path, value) USING (path)
      WHERE nb.value IS DISTINCT FROM nd.value);
  INSERT INTO {tables}.content_draft AS d
    (post_id, layer, is_empty, base, document, base_revision_id, marks, version, updated_at, updated_by_id)
    VALUES (of_post, 'review', NOT has_changes,
      CASE WHEN has_changes THEN new_base END, CASE WHEN has_changes THEN new_document END,
      CASE WHEN has_changes THEN coalesce(old.base_revision_id, (
        SELECT r.id FROM {tables}.content_revision r WHERE r.post_id = of_post ORDER BY r.version DESC LIMIT 1)) END,
      CASE WHEN has_changes THEN new_marks ELSE '{}' END, 1, statement_timestamp(), by_user)
    ON CONFLICT (post_id, layer) DO UPDATE SET
      is_empty = excluded.is_empty, base = excluded.base, document = excluded.document,
      base_revision_id = excluded.base_revision_id, marks = excluded.marks, version = d.version + 1,
      updated_at = excluded.updated_at, updated_by_id = excluded.updated_by_id;
  INSERT INTO {lane}.submission AS s (post_id, transaction) VALUES (of_post, pg_current_xact_id())
    ON CONFLICT (post_id) DO UPDATE SET transaction = excluded.transaction;
END
