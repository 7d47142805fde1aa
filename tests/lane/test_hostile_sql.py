"""Nobody who can send any SQL under the role of agents changes live content or Review."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection
from psycopg.types.json import Jsonb

from content.models import Draft, Layer, ModuleInstance, Post, QueuedChange
from proofroom.core.models import ContentVersion, Event
from tests import make
from tests.lane.role import install_role, lane_connection
from tests.mcp.tools import tables

pytestmark = [
    pytest.mark.services,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'postgresql'", reason="of PostgreSQL"),
]

REFUSED = [
    # Live content
    "UPDATE content_post SET title = 'Taken'",
    "UPDATE content_post SET id = id",
    "UPDATE content_post SET status = 'published', is_placeholder = false",
    "DELETE FROM content_post",
    "TRUNCATE content_post CASCADE",
    "INSERT INTO content_post SELECT * FROM content_post",
    "INSERT INTO content_post SELECT * FROM content_post ON CONFLICT (id) DO UPDATE SET title = 'Taken'",
    "MERGE INTO content_post p USING (SELECT 1) s ON true WHEN MATCHED THEN UPDATE SET title = 'Taken'",
    "WITH changed AS (UPDATE content_post SET title = 'Taken' RETURNING id) SELECT * FROM changed",
    "SELECT * FROM content_post FOR UPDATE",
    "BEGIN; LOCK TABLE content_post IN ACCESS EXCLUSIVE MODE",
    "COPY content_post FROM PROGRAM 'cat /dev/null'",
    "COPY content_post TO PROGRAM 'cat'",
    "UPDATE content_moduleinstance SET props = '{}'",
    "UPDATE content_moduleinstance SET id = gen_random_uuid()",
    "DELETE FROM content_moduleinstance",
    "UPDATE content_postmodule SET order_index = 0",
    "DELETE FROM content_postmodule",
    "DELETE FROM post_taxonomy_terms",
    "UPDATE content_revision SET document = '{}'",
    "DELETE FROM content_provenance",
    "UPDATE media_asset SET alt_text = 'Taken'",
    "UPDATE media_asset SET id = gen_random_uuid()",
    "DELETE FROM media_asset",
    "INSERT INTO media_mediareference (asset_id, holder_kind, holder_id, layer, path) "
    "SELECT a.id, 'post', p.id, 'live', 'post.featuredMediaId' FROM media_asset a, content_post p",
    "UPDATE proofroom_menus_menu SET name = 'Taken'",
    "UPDATE proofroom_taxonomies_term SET slug = 'taken'",
    "INSERT INTO seo_redirect DEFAULT VALUES",
    "UPDATE proofroom_core_contentversion SET number = 1",
    "DELETE FROM proofroom_core_event",
    "UPDATE proofroom_core_event SET name = 'post.published'",
    "INSERT INTO proofroom_core_event (uid, name, version, payload, via, credential, actor_name, agent_id, "
    "run_id, hop, created_at, attempts, told, is_sealed) "
    "VALUES (gen_random_uuid(), 'post.published', 1, '{}', 'api', '', '', '', '', 0, now(), 0, '[]', false)",
    # Review
    "INSERT INTO content_draft (post_id, layer, is_empty, marks, version, updated_at) "
    "SELECT id, 'review', true, '{}', 9, now() FROM content_post",
    "UPDATE content_draft SET layer = 'review'",
    'UPDATE content_draft SET marks = \'{"post.excerpt": {"via": "api", "user": "editor"}}\'',
    "DELETE FROM content_draft",
    "UPDATE content_queuedchange SET layer = 'review'",
    "INSERT INTO proofroom_lane.submission SELECT id, pg_current_xact_id() FROM content_post",
    # Other accounts
    "SELECT * FROM django_session",
    "INSERT INTO django_session VALUES ('a', 'b', now())",
    "SELECT * FROM proofroom_accounts_apitoken",
    "SELECT * FROM proofroom_accounts_deliverytoken",
    "INSERT INTO proofroom_accounts_apitoken DEFAULT VALUES",
    "UPDATE proofroom_accounts_user SET role = 'admin'",
    "UPDATE mcp_bridge_mcptoken SET tools = '[]'",
    "SELECT * FROM mfa_authenticator",
    # Another role, or other rights
    "SET ROLE {owner}",
    "SET SESSION AUTHORIZATION {owner}",
    "ALTER ROLE proofroom_lane SUPERUSER",
    "ALTER ROLE proofroom_lane BYPASSRLS",
    "GRANT {owner} TO proofroom_lane",
    "CREATE ROLE another LOGIN",
    "SET session_replication_role = replica",
    "ALTER TABLE content_post OWNER TO proofroom_lane",
    "ALTER TABLE content_draft DISABLE ROW LEVEL SECURITY",
    "DROP POLICY proofroom_lane_update ON content_draft",
    "ALTER TABLE content_draft DISABLE TRIGGER ALL",
    "DROP TABLE content_draft CASCADE",
    "GRANT UPDATE ON content_post TO proofroom_lane; UPDATE content_post SET title = 'Taken'",
    "SET row_security = off; UPDATE content_draft SET version = version",
    # Code that others would run
    "CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT null::timestamptz'",
    "CREATE TABLE public.shadow (id int)",
    "CREATE SCHEMA another",
    "CREATE EXTENSION dblink",
    "CREATE TRIGGER taken BEFORE UPDATE ON content_post FOR EACH ROW "
    "EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE RULE taken AS ON UPDATE TO content_post DO INSTEAD NOTHING",
    "CREATE OR REPLACE FUNCTION proofroom_lane.submit(of_post uuid, new_base jsonb, new_document jsonb, "
    "new_marks jsonb, by_user bigint) RETURNS void LANGUAGE sql AS 'SELECT'",
    "CREATE FUNCTION proofroom_lane.more() RETURNS void LANGUAGE sql AS 'SELECT'",
    "DROP FUNCTION proofroom_lane.submit",
    "ALTER FUNCTION proofroom_lane.submit RESET ALL",
    "SELECT proofroom_lane.parts('{}')",
    "SELECT proofroom_lane.is_of_agent('{}')",
    "DO $$ BEGIN EXECUTE 'UPDATE content_post SET title = ''Taken'''; END $$",
    "CREATE TEMP VIEW over AS SELECT * FROM content_post; UPDATE over SET title = 'Taken'",
    "SELECT pg_read_file('/etc/hostname')",
    "SELECT lo_import('/etc/hostname')",
]
WITHOUT_EFFECT = [
    "UPDATE content_draft SET document = '{}', version = 99 WHERE layer = 'review'",
    "UPDATE content_queuedchange SET weight = 0 WHERE layer = 'review'",
    "DELETE FROM content_queuedchange WHERE layer = 'review'",
    "DELETE FROM media_mediareference WHERE layer <> 'ai-review'",
    "UPDATE content_searchentry SET word_rules = 0",
    "UPDATE media_storedfile SET due_at = now() WHERE asset_id IS NOT NULL",
    "RESET ROLE",
    "DISCARD ALL",
]
SHADOWED = """
CREATE TEMP TABLE content_post AS SELECT * FROM public.content_post;
CREATE FUNCTION pg_temp.jsonb_each(jsonb) RETURNS TABLE(key text, value jsonb) LANGUAGE sql
  AS 'SELECT null::text, null::jsonb WHERE false';
CREATE FUNCTION pg_temp.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
SET search_path = pg_temp, public, pg_catalog;
"""


@pytest.fixture
def site() -> Post:
    """Install the role, and make a post with changes in both layers."""
    install_role()
    post = make.post()
    make.global_module()
    make.image()
    make.edited(post, {"featuredMediaId": str(make.image("live.png").pk)})
    make.staged(post, {"excerpt": "By a person"}, layer=Layer.REVIEW)
    make.staged(post, {"metaTitle": "By an agent"})
    return post


def state() -> object:
    return (
        tables.hashes(),
        list(Draft.objects.order_by("pk").values()),
        list(QueuedChange.objects.order_by("pk").values()),
        ContentVersion.objects.values_list("number").get(),
        Event.objects.count(),
    )


def test_no_statement_of_the_role_changes_live_content_or_review(site: Post) -> None:
    before, owner = state(), connection.connection.info.user
    done = []

    with lane_connection() as lane:
        for sql in REFUSED:
            try:
                lane.execute(sql.replace("{owner}", f'"{owner}"').encode())
                done.append(sql)
            except psycopg.errors.InsufficientPrivilege:
                lane.execute("ROLLBACK")
            assert lane.execute("SELECT current_user").fetchone() == ("proofroom_lane",)
        for sql in WITHOUT_EFFECT:
            assert lane.execute(sql.encode()).rowcount in (0, -1), sql

    assert done == []
    assert state() == before


def test_shadowed_names_do_not_reach_the_functions(site: Post) -> None:
    layers, document = make.layers(site), make.layers(site).review.document
    taken = document.with_fields({"excerpt": "Taken"}).to_json()
    before = state()

    with lane_connection() as lane:
        lane.execute(SHADOWED.encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match=r"post\.excerpt"):
            lane.execute(
                "SELECT proofroom_lane.submit(%s, %s, %s, %s, NULL)",
                [
                    site.pk,
                    Jsonb(layers.live.to_json()),
                    Jsonb(taken),
                    Jsonb({}),
                ],
            )
        with pytest.raises(psycopg.Error):
            lane.execute("SELECT proofroom_lane.make_proposed_post('{}', '{}', '')")
        lane.execute("SELECT proofroom_lane.lock_posts(ARRAY[%s]::uuid[])", [site.pk])

    assert state() == before
    assert ModuleInstance.objects.globals().count() == 1


def test_the_role_reads_what_tools_show_and_writes_ai_review(site: Post) -> None:
    with lane_connection() as lane:
        [title] = lane.execute("SELECT title FROM content_post").fetchone() or [""]
        changed = lane.execute("UPDATE content_draft SET version = version + 1").rowcount

    assert (title, changed) == (site.title, 1)
    assert Draft.objects.get(layer="ai-review").version == 2
