-- Lock posts until the end of the transaction, as every write of a layer begins.
BEGIN
  -- Ordered, so that two callers cannot deadlock.
  PERFORM 1 FROM {tables}.content_post WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
END
