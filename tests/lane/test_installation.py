"""`install_lane` makes the role of agents, finds what differs from the declarations, and corrects it."""

from __future__ import annotations

import threading
import time
from io import StringIO
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, models, transaction

from proofroom.core.diagnostics import doctor
from proofroom.core.lane import ROLE
from proofroom.core.lane.checks import check_lane
from proofroom.core.lane.installation import differences, install
from proofroom.core.lane.rights import all_rights, undeclared_models
from tests.agents.environment import set_env
from tests.lane.role import lane_connection
from tests.mcp.tools import tables

RECORDS = {
    "agents_app.ProviderCheck",
    "agents_app.ProviderPause",
    "agents_app.StoppedChain",
    "agents_app.Evaluation",
    "agents_app.EvaluationItem",
    "mcp_bridge.McpProcess",
    "mcp_bridge.McpToken",
    "proofroom_core.QueueFailure",
}
"""Tables that no tool changes, but the processes of agents themselves: of a token only its last use."""


def test_every_table_says_what_agents_may_do_with_it() -> None:
    assert undeclared_models() == []


def test_a_new_table_is_missed() -> None:
    class Sample(models.Model):
        class Meta:
            app_label = "content"

    try:
        assert undeclared_models() == [Sample]
    finally:
        del Sample._meta.apps.all_models["content"]["sample"]
        Sample._meta.apps.clear_cache()


def test_tables_of_live_content_are_written_by_no_statement_of_the_role() -> None:
    given = {rights.model: rights for rights in all_rights().values()}
    live = {part.partition(":")[0] for part in tables.LIVE} - RECORDS

    open_ones = {
        name
        for name in live & given.keys()
        if (given[name].inserts or given[name].deletes or given[name].updates != ())
        and not given[name].has_row_security
    }

    assert open_ones == set()


@pytest.mark.services
@pytest.mark.usefixtures("role")
class TestInstalled:
    def test_a_second_installation_changes_nothing(self) -> None:
        assert differences() == []
        assert _install() == f"The role {ROLE} has its rights.\n"

    @pytest.mark.parametrize(
        ("sql", "found"),
        [
            (f"GRANT UPDATE ON content_post TO {ROLE}", "content_post the role may UPDATE"),
            ("GRANT DELETE ON content_post TO PUBLIC", "content_post the role may DELETE"),
            (
                f"GRANT UPDATE (title) ON content_post TO {ROLE}",
                "content_post the role may UPDATE (title)",
            ),
            (f"REVOKE INSERT ON content_draft FROM {ROLE}", "content_draft the role lacks INSERT"),
            (f"GRANT SELECT ON django_session TO {ROLE}", "django_session the role may SELECT"),
            ("ALTER TABLE content_draft DISABLE ROW LEVEL SECURITY", "no row-level security"),
            ("DROP POLICY proofroom_lane_update ON content_draft", "proofroom_lane_update"),
            (
                "ALTER POLICY proofroom_lane_update ON content_draft USING (true) WITH CHECK (true)",
                "proofroom_lane_update",
            ),
            (
                "CREATE POLICY proofroom_more ON content_draft FOR UPDATE USING (true)",
                "proofroom_more",
            ),
            ("DROP TRIGGER proofroom_lane_authors ON content_draft", "proofroom_lane_authors"),
            (
                "ALTER TABLE content_draft DISABLE TRIGGER proofroom_lane_authors",
                "proofroom_lane_authors",
            ),
            ("ALTER FUNCTION proofroom_lane.submit SECURITY INVOKER", "proofroom_lane.submit"),
            ("ALTER FUNCTION proofroom_lane.submit RESET search_path", "proofroom_lane.submit"),
            ("GRANT EXECUTE ON FUNCTION proofroom_lane.submit TO PUBLIC", "proofroom_lane.submit"),
            (
                "CREATE OR REPLACE FUNCTION proofroom_lane.lock_posts(ids uuid[]) RETURNS void LANGUAGE plpgsql "
                "SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN END $$",
                "proofroom_lane.lock_posts",
            ),
            (
                "CREATE FUNCTION proofroom_lane.more() RETURNS void LANGUAGE sql AS 'SELECT'",
                "proofroom_lane.more",
            ),
            (f"GRANT CREATE ON SCHEMA proofroom_lane TO {ROLE}", "schema proofroom_lane"),
        ],
    )
    def test_what_was_changed_is_found_and_corrected(self, sql: str, found: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)

        before = [difference.found for difference in differences()]
        left = install()

        assert len(before) == 1
        assert found in before[0]
        # What others may do is not the installation's to take.
        is_granted_to_all = "content_post TO PUBLIC" in sql
        assert len(left) == (1 if is_granted_to_all else 0)

    @pytest.mark.parametrize(
        ("sql", "found"),
        [
            (f"ALTER ROLE {ROLE} CREATEDB", f"The role {ROLE} has CREATEDB."),
            (f"ALTER ROLE {ROLE} BYPASSRLS", f"The role {ROLE} has BYPASSRLS."),
            (f"GRANT pg_write_all_data TO {ROLE}", "is a member of pg_write_all_data"),
        ],
    )
    def test_the_role_itself_is_examined(self, sql: str, found: str) -> None:
        with connection.cursor() as cursor:
            cursor.execute(sql)

        before = " ".join(difference.found for difference in differences())

        assert found in before
        assert install() == []

    def test_a_table_that_the_role_owns_is_named(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE sample (id int)")
            cursor.execute(f"ALTER TABLE sample OWNER TO {ROLE}")

        [found] = [difference for difference in install() if "owns" in difference.found]

        assert "sample" in found.found
        assert "OWNER TO" in found.advice

    def test_other_roles_keep_their_rows(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("CREATE ROLE proofroom_reports")
            cursor.execute("GRANT SELECT ON agents_app_budget TO proofroom_reports")
            cursor.execute(
                "INSERT INTO agents_app_budget (agent_id, updated_at) VALUES ('a', now())"
            )
            cursor.execute("SET LOCAL ROLE proofroom_reports")
            cursor.execute("SELECT agent_id FROM agents_app_budget")
            assert cursor.fetchall() == [("a",)]
            cursor.execute("RESET ROLE")

    def test_the_sql_can_be_printed(self) -> None:
        sql = _install("--print-sql")

        assert f"CREATE ROLE {ROLE} LOGIN" in sql
        assert "CREATE FUNCTION proofroom_lane.submit(" in sql
        assert 'GRANT SELECT ON "public"."content_post"' in sql
        assert "PASSWORD" not in sql


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="of PostgreSQL")
class TestChecked:
    def test_nothing_is_wrong_without_the_role(self, settings: Any) -> None:
        assert list(check_lane()) == []
        assert "LANE_DATABASE_URL gives" in _doctor_line()

    def test_the_check_and_the_doctor_say_what_to_do(self, settings: Any) -> None:
        set_env(settings, lane_database_url=_url(), redis_url=None)
        _install()
        with lane_connection() as lane:
            assert lane.execute("SELECT current_user").fetchone() == (ROLE,)

        complete, line = list(check_lane()), _doctor_line()
        with connection.cursor() as cursor:
            cursor.execute(f"GRANT UPDATE ON content_post TO {ROLE}")
        [problem] = check_lane()
        drifted = _doctor_line()
        _install()

        assert (complete, line) == ([], f"{ROLE} has the declared rights and no others")
        assert problem.msg == "On content_post the role may UPDATE."
        assert problem.hint == "Run manage.py install_lane as the role that owns the tables."
        assert drifted == problem.msg
        assert list(check_lane()) == []

    def test_migrate_gives_the_role_its_rights(self, settings: Any) -> None:
        set_env(settings, lane_database_url=_url(), redis_url=None)
        _install()
        with connection.cursor() as cursor:
            cursor.execute("REVOKE SELECT ON content_post FROM proofroom_lane")

        call_command("migrate", plan=True, verbosity=0, stdout=StringIO())
        before = len(differences())
        call_command("migrate", verbosity=0, stdout=StringIO())

        assert (before, differences()) == (1, [])

    def test_a_wrong_address_is_named_without_its_password(self, settings: Any) -> None:
        _install()
        set_env(settings, lane_database_url=_url(port=1), redis_url=None)

        [problem] = check_lane()

        assert problem.msg == "LANE_DATABASE_URL does not connect (OperationalError)."
        assert "only-in-tests" not in f"{problem.msg} {problem.hint}"


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="of PostgreSQL")
def test_an_installation_waits_for_autovacuum() -> None:
    """GRANT changes rows of the catalogue that ANALYZE changes too, and CREATE POLICY waits for ANALYZE."""
    connection.ensure_connection()
    failures = list[Exception]()

    def install_and_undo() -> None:
        try:
            with transaction.atomic():
                install()
                transaction.set_rollback(True)
        except OperationalError as error:
            failures.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=install_and_undo)
    with psycopg.connect(connection.connection.info.dsn) as vacuum:
        vacuum.execute("LOCK TABLE content_draft IN SHARE UPDATE EXCLUSIVE MODE")
        thread.start()
        while thread.is_alive() and not _is_a_table_waited_for():
            time.sleep(0.02)
        vacuum.execute("ANALYZE content_draft")
    thread.join(30)

    assert not thread.is_alive()
    assert failures == []


def _is_a_table_waited_for() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database "
            "WHERE datname = current_database() AND NOT granted AND locktype = 'relation'"
        )
        return cursor.fetchone() is not None


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor == 'postgresql'", reason="of SQLite")
def test_only_postgresql_has_roles() -> None:
    with pytest.raises(CommandError, match="Only PostgreSQL has roles"):
        _install()
    assert list(check_lane()) == []


def _install(*options: str) -> str:
    out = StringIO()
    call_command("install_lane", *options, stdout=out)
    return out.getvalue()


def _doctor_line() -> str:
    [result] = doctor.lane()
    return result.found


def _url(port: int | None = None) -> str:
    connection.ensure_connection()
    info = connection.connection.info
    return f"postgresql://{ROLE}:only-in-tests@{info.host}:{port or info.port}/{info.dbname}"
