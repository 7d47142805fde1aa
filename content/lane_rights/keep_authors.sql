-- Refuse marks of people in a draft that the role writes, unless the draft has them already.
DECLARE
  wrong text;
  known jsonb := '{}';
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.post_id <> OLD.post_id OR NEW.layer <> OLD.layer THEN
      RAISE EXCEPTION 'A draft keeps its post and its layer.' USING ERRCODE = 'insufficient_privilege';
    END IF;
    known := OLD.marks;
  END IF;
  IF NOT NEW.is_empty AND NOT ({lane}.is_document(NEW.base, '{}') AND {lane}.is_document(NEW.document, NEW.marks)) THEN
    RAISE EXCEPTION 'This is no document of a post.' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT mark.key INTO wrong FROM jsonb_each(NEW.marks) mark
  WHERE NOT {lane}.is_of_agent(mark.value) AND NOT EXISTS (
    SELECT FROM jsonb_each(known) before
    WHERE before.value - ARRAY['drifted', 'conflict', 'note', 'reason'] = mark.value - ARRAY['drifted', 'conflict', 'note', 'reason'])
  LIMIT 1;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'An agent cannot sign as a person, as at %.', wrong USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END
