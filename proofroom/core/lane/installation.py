"""The state of the role in the database, compared with the declarations, and the statements that lead there.

`install_lane` runs the statements, `check --deploy` reports the differences. Both read the catalogue, so that a
second installation changes nothing and takes no lock, and so that a change by hand is found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import psycopg.sql
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Model

from proofroom.core.lane.rights import (
    LaneFunction,
    LaneTrigger,
    TableRights,
    all_functions,
    all_rights,
    all_triggers,
    condition_of,
)
from proofroom.core.lane.session import ROLE, SCHEMA

_TABLE_PRIVILEGES: Final = (
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "TRUNCATE",
    "REFERENCES",
    "TRIGGER",
)
_POLICY_PREFIX: Final = "proofroom_"
_SEARCH_PATH: Final = "pg_catalog, pg_temp"
_FORBIDDEN_ATTRIBUTES: Final = {
    "rolsuper": "SUPERUSER",
    "rolcreaterole": "CREATEROLE",
    "rolcreatedb": "CREATEDB",
    "rolreplication": "REPLICATION",
    "rolbypassrls": "BYPASSRLS",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not as declared, and the statements that correct it.

    Without statements, `advice` says what a person has to do.
    """

    found: str
    statements: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True, slots=True)
class _Policy:
    table: str
    name: str
    command: str
    role: str
    using: str = ""
    check: str = ""


def differences() -> list[Difference]:
    """Return everything in which the database differs from the declarations. Reads the catalogue only."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        [tables] = cursor.fetchone()
        # The catalogue prints names without their schema if the search path has it.
        cursor.execute("SET LOCAL search_path = pg_catalog")
        found = list(_differences(tables))
        cursor.execute(f"SET LOCAL search_path = {_quote(tables)}")
    return found


def install() -> list[Difference]:
    """Correct all differences in one transaction, and return the ones that it cannot correct."""
    with transaction.atomic():
        # One installation at a time: roles belong to all databases of the server.
        _rows("SELECT pg_advisory_xact_lock(hashtext(%s))", ROLE)
        # The last run finds what depends on the role and on the tables' row security.
        for _round in range(3):
            found = differences()
            statements = [one for difference in found for one in difference.statements]
            if not statements:
                return found
            with connection.cursor() as cursor:
                _lock_out_vacuum(cursor)
                for statement in statements:
                    cursor.execute(statement)
                _seal(cursor, tables=_current_schema())
        return differences()


def _lock_out_vacuum(cursor: CursorWrapper) -> None:
    """Wait for VACUUM and ANALYZE of the tables with policies, and lock them out. Reads and writes go on.

    GRANT changes the catalogue's row of a table without locking the table, and ANALYZE of that table then waits for
    this transaction. CREATE POLICY would wait for ANALYZE: a deadlock.
    """
    tables = ", ".join(_table(_current_schema(), name) for name in sorted(_secured_tables()))
    cursor.execute(f"LOCK TABLE {tables} IN SHARE UPDATE EXCLUSIVE MODE")


def all_statements() -> list[str]:
    """Return the statements of an installation into this database as if nothing were installed."""
    tables = _current_schema()
    statements = [*_role_statements(), *_schema_statements(tables)]
    for model, rights in all_rights().items():
        statements += _grants(tables, model, rights)
    for policy in _policies(tables):
        statements += _policy_statements(tables, policy)
    statements += [
        f"ALTER TABLE {_table(tables, table)} ENABLE ROW LEVEL SECURITY"
        for table in _secured_tables()
    ]
    for function in all_functions():
        statements += _function_statements(tables, function)
    for trigger in all_triggers():
        statements += _trigger_statements(tables, trigger)
    return statements


def _differences(tables: str) -> Iterator[Difference]:
    role = _rows("SELECT rolcanlogin, oid FROM pg_roles WHERE rolname = %s", ROLE)
    if not role:
        yield Difference(f"The role {ROLE} does not exist.", tuple(_role_statements()))
        return
    yield from _role_differences(tables)
    yield from _schema_differences(tables)
    yield from _privilege_differences(tables)
    yield from _policy_differences(tables)
    yield from _function_differences(tables)
    yield from _trigger_differences(tables)


def _role_statements() -> list[str]:
    attributes = "NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
    return [f"CREATE ROLE {ROLE} LOGIN {attributes}"]


def _role_differences(tables: str) -> Iterator[Difference]:
    names = ", ".join(_FORBIDDEN_ATTRIBUTES)
    [attributes] = _rows(f"SELECT {names} FROM pg_roles WHERE rolname = %s", ROLE)  # noqa: S608  # our own names
    for is_set, attribute in zip(attributes, _FORBIDDEN_ATTRIBUTES.values(), strict=True):
        if is_set:
            yield Difference(
                f"The role {ROLE} has {attribute}.", (f"ALTER ROLE {ROLE} NO{attribute}",)
            )
    groups = _rows(
        "SELECT groups.rolname FROM pg_auth_members "
        "JOIN pg_roles members ON members.oid = pg_auth_members.member "
        "JOIN pg_roles groups ON groups.oid = pg_auth_members.roleid WHERE members.rolname = %s",
        ROLE,
    )
    for (group,) in groups:
        yield Difference(
            f"The role {ROLE} is a member of {group}.", (f"REVOKE {_quote(group)} FROM {ROLE}",)
        )
    owned = _rows(
        "SELECT format('%%I.%%I', nspname, relname) FROM pg_class "
        "JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        "WHERE relowner = (SELECT oid FROM pg_roles WHERE rolname = %s) AND relkind IN ('r', 'p', 'v', 'm', 'f') "
        "AND nspname NOT LIKE 'pg\\_%%' ORDER BY 1",
        ROLE,
    )
    for (name,) in owned:
        advice = f"ALTER TABLE {name} OWNER TO the role of the site, as a superuser"
        yield Difference(f"The role {ROLE} owns {name}.", advice=advice)
    if _rows("SELECT 1 WHERE has_schema_privilege(%s::name, %s::text, 'CREATE')", ROLE, tables):
        advice = (
            f"as the owner of the schema, run: REVOKE CREATE ON SCHEMA {_quote(tables)} FROM PUBLIC; "
            "grant it to the role that runs migrate"
        )
        yield Difference(f"The role {ROLE} may create tables in {tables}.", advice=advice)


def _schema_statements(tables: str) -> list[str]:
    return [
        f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
        # Which transaction moved changes of a post to Review. Only the functions write it.
        f"CREATE TABLE IF NOT EXISTS {SCHEMA}.submission (post_id uuid PRIMARY KEY, transaction xid8 NOT NULL)",
        f"ALTER SCHEMA {SCHEMA} OWNER TO {_quote(_owner(tables))}",
        f"ALTER TABLE {SCHEMA}.submission OWNER TO {_quote(_owner(tables))}",
        f"REVOKE ALL ON SCHEMA {SCHEMA} FROM PUBLIC, {ROLE}",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM PUBLIC, {ROLE}",
        f"GRANT USAGE ON SCHEMA {SCHEMA}, {_quote(tables)} TO {ROLE}",
        f"GRANT SELECT ON {SCHEMA}.submission TO {ROLE}",
    ]


def _schema_differences(tables: str) -> Iterator[Difference]:
    may_use = "has_schema_privilege(%s::name, oid, 'USAGE')"
    rows = _rows(
        f"SELECT {may_use}, has_schema_privilege(%s::name, oid, 'CREATE') FROM pg_namespace WHERE nspname = %s",  # noqa: S608  # as above
        ROLE,
        ROLE,
        SCHEMA,
    )
    submission = _rows(
        "SELECT has_table_privilege(%s::name, c.oid, 'SELECT'), "
        "has_table_privilege(%s::name, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = 'submission'",
        ROLE,
        ROLE,
        SCHEMA,
    )
    is_used = _rows(f"SELECT {may_use} FROM pg_namespace WHERE nspname = %s", ROLE, tables)  # noqa: S608  # as above
    if rows != [(True, False)] or submission != [(True, False)] or is_used != [(True,)]:
        yield Difference(
            f"The schema {SCHEMA} is missing, or has other rights.",
            tuple(_schema_statements(tables)),
        )


def _grants(tables: str, model: type[Model], rights: TableRights) -> list[str]:
    table = _table(tables, model._meta.db_table)
    statements = [f"REVOKE ALL ON {table} FROM {ROLE}"]
    privileges, columns = _expected_privileges(model, rights)
    if privileges:
        statements.append(f"GRANT {', '.join(sorted(privileges))} ON {table} TO {ROLE}")
    if columns:
        named = ", ".join(_quote(column) for column in sorted(columns))
        statements.append(f"GRANT UPDATE ({named}) ON {table} TO {ROLE}")
    return statements


def _expected_privileges(model: type[Model], rights: TableRights) -> tuple[set[str], set[str]]:
    """Return the privileges on the table, and the columns with the right to change them."""
    privileges = {
        name
        for name, is_given in (
            ("SELECT", rights.reads),
            ("INSERT", rights.inserts),
            ("UPDATE", rights.updates is None),
            ("DELETE", rights.deletes),
        )
        if is_given
    }
    columns = {
        str(field.column)
        for field in model._meta.concrete_fields
        if field.name in (rights.updates or ())
    }
    if rights.locks:
        # Locking a row takes the right to change a column of it. The policy then refuses the change.
        columns.add(str(model._meta.pk.column))
    return privileges, columns


def _privilege_differences(tables: str) -> Iterator[Difference]:
    expected = {model._meta.db_table: (model, rights) for model, rights in all_rights().items()}
    asked = ", ".join(f"has_table_privilege(%s::name, c.oid, '{one}')" for one in _TABLE_PRIVILEGES)
    rows = _rows(
        f"SELECT c.relname, {asked}, ARRAY(SELECT attname::text FROM pg_attribute "  # noqa: S608  # as above
        "WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped "
        "AND has_column_privilege(%s::name, c.oid, attnum, 'UPDATE')) "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.relname",
        *[ROLE] * (len(_TABLE_PRIVILEGES) + 1),
        tables,
    )
    for table, *given, columns in rows:
        actual = {name for name, is_given in zip(_TABLE_PRIVILEGES, given, strict=True) if is_given}
        actual_columns = set() if "UPDATE" in actual else set(columns)
        wanted: tuple[set[str], set[str]] = (set(), set())
        statements = [f"REVOKE ALL ON {_table(tables, table)} FROM {ROLE}"]
        if table in expected:
            model, rights = expected[table]
            wanted = _expected_privileges(model, rights)
            statements = _grants(tables, model, rights)
        if (actual, actual_columns) == wanted:
            continue
        excess = actual - wanted[0] | {f"UPDATE ({one})" for one in actual_columns - wanted[1]}
        lacking = wanted[0] - actual | {f"UPDATE ({one})" for one in wanted[1] - actual_columns}
        parts = [
            f"{verb} {', '.join(sorted(names))}"
            for verb, names in (("may", excess), ("lacks", lacking))
            if names
        ]
        yield Difference(f"On {table} the role {' and '.join(parts)}.", tuple(statements))


def _policies(tables: str) -> Iterator[_Policy]:
    """Yield the policies of all tables with row security."""
    for model, rights in all_rights().items():
        if not rights.has_row_security:
            continue
        table = model._meta.db_table
        rows, new, changed = (
            condition_of(*conditions).replace("{tables}", _quote(tables)).replace("{lane}", SCHEMA)
            for conditions in (
                (rights.rows,),
                (rights.new_rows, rights.rows),
                (rights.changed_rows, rights.rows),
            )
        )
        others = f"CURRENT_USER <> '{ROLE}'"
        # Roles that neither own the table nor are this one, such as one for reports, keep all their rows.
        yield _Policy(table, "proofroom_others", "ALL", "PUBLIC", others, others)
        yield _Policy(table, "proofroom_lane_select", "SELECT", ROLE, "true")
        if rights.inserts:
            yield _Policy(table, "proofroom_lane_insert", "INSERT", ROLE, check=new)
        if rights.locks:
            yield _Policy(table, "proofroom_lane_update", "UPDATE", ROLE, "true", "false")
        elif rights.updates is None or rights.updates:
            yield _Policy(table, "proofroom_lane_update", "UPDATE", ROLE, rows, changed)
        if rights.deletes:
            yield _Policy(table, "proofroom_lane_delete", "DELETE", ROLE, rows)


def _policy_statements(tables: str, policy: _Policy) -> list[str]:
    table = _table(tables, policy.table)
    using = f" USING ({policy.using})" if policy.using else ""
    check = f" WITH CHECK ({policy.check})" if policy.check else ""
    return [
        f"DROP POLICY IF EXISTS {policy.name} ON {table}",
        f"CREATE POLICY {policy.name} ON {table} FOR {policy.command} TO {policy.role}{using}{check}",
    ]


def _secured_tables() -> list[str]:
    return [model._meta.db_table for model, one in all_rights().items() if one.has_row_security]


def _policy_differences(tables: str) -> Iterator[Difference]:
    actual = {(table, name): found for table, name, found, _ in _read_policies(tables)}
    expected = {(policy.table, policy.name): policy for policy in _policies(tables)}
    for key, policy in expected.items():
        source = _digest(*_policy_statements(tables, policy))
        if actual.get(key) != source:
            yield Difference(
                f"The policy {policy.name} of {policy.table} is missing or was changed.",
                (
                    *_policy_statements(tables, policy),
                    f"COMMENT ON POLICY {policy.name} ON {_table(tables, policy.table)} IS '{source}'",
                ),
            )
    for table, name in sorted(actual.keys() - expected.keys()):
        yield Difference(
            f"The policy {name} of {table} is no longer declared.",
            (f"DROP POLICY {name} ON {_table(tables, table)}",),
        )
    rows = _rows(
        "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        "WHERE nspname = %s AND relrowsecurity",
        tables,
    )
    secured = {name for (name,) in rows}
    for table in _secured_tables():
        if table not in secured:
            yield Difference(
                f"{table} has no row-level security.",
                (f"ALTER TABLE {_table(tables, table)} ENABLE ROW LEVEL SECURITY",),
            )


def _read_policies(tables: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield table, name, the digest of the source, and the digest of what the database made of it.

    The first digest is empty if the policy was changed since.
    """
    rows = _rows(
        "SELECT relname, polname, obj_description(p.oid, 'pg_policy'), polcmd::text, polpermissive, "
        "ARRAY(SELECT coalesce(rolname, 'public') FROM unnest(polroles) AS r(oid) LEFT JOIN pg_roles USING (oid)), "
        "pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid) "
        "FROM pg_policy p JOIN pg_class c ON c.oid = polrelid JOIN pg_namespace n ON n.oid = relnamespace "
        "WHERE nspname = %s AND starts_with(polname, %s)",
        tables,
        _POLICY_PREFIX,
    )
    for table, name, comment, *definition in rows:
        yield table, name, _sealed(comment, made := _digest(*map(str, definition))), made


def _function_source(tables: str, function: LaneFunction) -> str:
    return function.body().replace("{tables}", _quote(tables)).replace("{lane}", SCHEMA)


def _function_statements(tables: str, function: LaneFunction) -> list[str]:
    called = f"{SCHEMA}.{function.name}"
    source = _function_source(tables, function)
    volatility = "IMMUTABLE" if function.is_pure else "VOLATILE"
    granted = [f"GRANT EXECUTE ON FUNCTION {called} TO {ROLE}"] if function.is_open else []
    return [
        f"DROP FUNCTION IF EXISTS {called} CASCADE",
        f"CREATE FUNCTION {called}({function.arguments}) RETURNS {function.returns} LANGUAGE {function.language} "
        f"{volatility} SECURITY DEFINER SET search_path = {_SEARCH_PATH} AS $proofroom${source}$proofroom$",
        # It has the rights of its owner, who must not be the superuser that installs it.
        f"ALTER FUNCTION {called} OWNER TO {_quote(_owner(tables))}",
        f"REVOKE ALL ON FUNCTION {called} FROM PUBLIC, {ROLE}",
        *granted,
    ]


def _function_differences(tables: str) -> Iterator[Difference]:
    rows = _rows(
        "SELECT proname, prosrc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), prosecdef, "
        "proconfig, provolatile = 'i', has_function_privilege(%s::name, p.oid, 'EXECUTE'), "
        "EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0), "
        "pg_get_userbyid(proowner) FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace "
        "WHERE nspname = %s",
        ROLE,
        SCHEMA,
    )
    owner = _owner(tables)
    actual = {name: rest for name, *rest in rows}
    for function in all_functions():
        wanted = [
            _function_source(tables, function),
            function.arguments,
            function.returns,
            True,
            [f"search_path={_SEARCH_PATH}"],
            function.is_pure,
            function.is_open,
            False,
            owner,
        ]
        if actual.pop(function.name, None) != wanted:
            yield Difference(
                f"The function {SCHEMA}.{function.name} is missing or was changed.",
                tuple(_function_statements(tables, function)),
            )
    for name in sorted(actual):
        yield Difference(
            f"The function {SCHEMA}.{name} is not declared.",
            (f"DROP FUNCTION {SCHEMA}.{name} CASCADE",),
        )


def _trigger_statements(tables: str, trigger: LaneTrigger) -> list[str]:
    table = _table(tables, _table_of(trigger))
    return [
        f"DROP TRIGGER IF EXISTS {trigger.name} ON {table}",
        f"CREATE TRIGGER {trigger.name} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW "
        f"WHEN (CURRENT_USER = '{ROLE}') EXECUTE FUNCTION {SCHEMA}.{trigger.function}()",
    ]


def _table_of(trigger: LaneTrigger) -> str:
    [table] = [
        model._meta.db_table
        for model, rights in all_rights().items()
        if rights.model == trigger.model
    ]
    return table


def _trigger_differences(tables: str) -> Iterator[Difference]:
    actual = {(table, name): found for table, name, found, _ in _read_triggers(tables)}
    for trigger in all_triggers():
        table = _table_of(trigger)
        source = _digest(*_trigger_statements(tables, trigger))
        if actual.pop((table, trigger.name), None) != source:
            yield Difference(
                f"The trigger {trigger.name} of {table} is missing or was changed.",
                (
                    *_trigger_statements(tables, trigger),
                    f"COMMENT ON TRIGGER {trigger.name} ON {_table(tables, table)} IS '{source}'",
                ),
            )
    for table, name in sorted(actual):
        yield Difference(
            f"The trigger {name} of {table} is no longer declared.",
            (f"DROP TRIGGER {name} ON {_table(tables, table)}",),
        )


def _read_triggers(tables: str) -> Iterator[tuple[str, str, str, str]]:
    """Like `_read_policies`."""
    rows = _rows(
        "SELECT relname, tgname, obj_description(t.oid, 'pg_trigger'), pg_get_triggerdef(t.oid), tgenabled::text "
        "FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid JOIN pg_namespace n ON n.oid = relnamespace "
        "WHERE nspname = %s AND starts_with(tgname, %s)",
        tables,
        _POLICY_PREFIX,
    )
    for table, name, comment, *definition in rows:
        yield table, name, _sealed(comment, made := _digest(*map(str, definition))), made


def _seal(cursor: Any, tables: str) -> None:
    """Add to the comments of policies and triggers the digest of what the database made of them.

    The database stores their expressions in its own spelling, so that they cannot be compared with the source.
    """
    cursor.execute("SET LOCAL search_path = pg_catalog")
    for kind, read in (("POLICY", _read_policies), ("TRIGGER", _read_triggers)):
        _seal_all(cursor, kind, tables, read)
    cursor.execute(f"SET LOCAL search_path = {_quote(tables)}")


def _seal_all(
    cursor: Any,
    kind: str,
    tables: str,
    read: Callable[[str], Iterator[tuple[str, str, str, str]]],
) -> None:
    catalogue, relation, name_column = (
        ("pg_policy", "polrelid", "polname")
        if kind == "POLICY"
        else ("pg_trigger", "tgrelid", "tgname")
    )
    for table, name, source, made in list(read(tables)):
        [(comment,)] = _rows(
            f"SELECT obj_description(o.oid, %s) FROM {catalogue} o "  # noqa: S608  # as above
            f"WHERE {relation} = %s::regclass AND {name_column} = %s",
            catalogue,
            _table(tables, table),
            name,
        )
        if not source and comment and " " not in comment:
            cursor.execute(
                f"COMMENT ON {kind} {name} ON {_table(tables, table)} IS '{comment} {made}'"
            )


def _sealed(comment: str | None, made: str) -> str:
    """Return the digest of the source from a comment; "" unless the comment belongs to what is there now."""
    source, _, sealed = (comment or "").partition(" ")
    return source if sealed == made else ""


def _owner(tables: str) -> str:
    """Return the role that owns the tables of the site."""
    [(owner,)] = _rows(
        "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = %s::regclass",
        _table(tables, MigrationRecorder.Migration._meta.db_table),
    )
    return str(owner)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _table(tables: str, name: str) -> str:
    return f"{_quote(tables)}.{_quote(name)}"


def _quote(name: str) -> str:
    return connection.ops.quote_name(name)


def _current_schema() -> str:
    [(schema,)] = _rows("SELECT current_schema()")
    return str(schema)


def _rows(sql: str, *parameters: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def set_password(password: str) -> None:
    """Set the password of the role, if the caller may. Raises `ProgrammingError` otherwise."""
    with connection.cursor() as cursor:
        cursor.execute(
            psycopg.sql.SQL("ALTER ROLE {} PASSWORD {}")
            .format(psycopg.sql.Identifier(ROLE), psycopg.sql.Literal(password))
            .as_string(connection.connection)
        )
