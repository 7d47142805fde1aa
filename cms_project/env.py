"""The environment variables, typed. No other module reads them.

Every variable is a field of `Environment`, with its name in lower case. A secret can also come from the file named by
`<NAME>_FILE`. `python -m cms_project.env` prints `.env.example`, or writes it to the given file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from agents_app.providers.vendors import SHIPPED_VENDORS, all_vendors
from cms_project.env_values import (
    Commands,
    EmailUrl,
    Endpoints,
    Folder,
    Hosts,
    Locales,
    LogFile,
    NamedSecrets,
    Networks,
    Port,
    Rate,
    RedisUrl,
    Roles,
    Seconds,
    Url,
    Words,
    secret,
    split,
)
from cms_project.folders import BASE_DIR
from cms_project.media_storage import MediaEnvironment
from cms_project.observability import ObservabilityEnvironment
from cms_project.sign_in import SignInEnvironment

_OTHER_PROVIDER: Final = re.compile(r"AI_PROVIDER_[A-Z0-9_]+")
_HTTP_URL: Final[TypeAdapter[str]] = TypeAdapter(Url)


class _Providers(BaseSettings):
    _other_providers: dict[str, str] = PrivateAttr(default_factory=dict)
    """Variables of other providers, by name. Apps declare these providers later."""

    @model_validator(mode="after")
    def _keep_other_providers(self) -> Self:
        given = {
            **DotEnvSettingsSource(type(self), case_sensitive=True).env_vars,
            **{name: os.environ[name] for name in os.environ if name.startswith("AI_PROVIDER_")},
        }
        for name, value in given.items():
            variable = name.removesuffix("_FILE")
            is_other = variable.lower() not in type(self).model_fields
            if not (value and is_other and _OTHER_PROVIDER.fullmatch(variable)):
                continue
            if name != variable:
                value = read_secret(name, value)
            self._other_providers[variable] = (
                _HTTP_URL.validate_python(value) if variable.endswith("_URL") else value
            )
        return self

    def _variable(self, name: str) -> str | None:
        value: str | None = getattr(self, name.lower(), self._other_providers.get(name))
        return value

    def api_key(self, provider: str) -> str | None:
        """Return the provider's key, or None."""
        return self._variable(f"AI_PROVIDER_{provider.upper()}_API_KEY")

    def base_url(self, provider: str) -> str | None:
        """Return the provider's URL if it differs from the default, else None."""
        return self._variable(f"AI_PROVIDER_{provider.upper()}_BASE_URL")

    @property
    def other_provider_secrets(self) -> list[str]:
        """Keys of providers that apps declare."""
        return [value for name, value in self._other_providers.items() if name.endswith("_API_KEY")]

    def require_known_providers(self) -> None:
        """Exit with a sentence for each variable that belongs to no provider."""
        # A mistyped name would otherwise be ignored silently.
        vendors = all_vendors().values()
        names = {name for one in vendors for name in (one.key_variable, one.address_variable)}
        problems = [
            f"{name} belongs to no provider; the providers are {', '.join(all_vendors())}."
            for name in sorted(self._other_providers)
            if name not in names
        ]
        if problems:
            raise SystemExit("\n".join(problems))

    def has_provider(self, provider: str) -> bool:
        """Return whether the provider has a key or an address."""
        return bool(self.api_key(provider) or self.base_url(provider))

    @property
    def configured_providers(self) -> list[str]:
        return [provider for provider in all_vendors() if self.has_provider(provider)]


if TYPE_CHECKING:
    ProviderEnvironment = _Providers
else:
    fields: dict[str, Any] = {}
    for vendor in SHIPPED_VENDORS.values():
        fields[vendor.key_variable.lower()] = (str | None, secret(vendor.key_description))
        address = Field(None, description=vendor.address_description)
        fields[vendor.address_variable.lower()] = (Url | None, address)
    ProviderEnvironment = create_model("ProviderEnvironment", __base__=_Providers, **fields)


def read_secret(variable: str, path: str) -> str:
    """Return the content of the file. Raises `OSError` with a sentence if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise OSError(f"{variable} names {path!r}, which cannot be read: {reason}.") from None


class SecretFiles(PydanticBaseSettingsSource):
    """A settings source for `<NAME>_FILE` variables. Raises `OSError` with a sentence if a file cannot be read."""

    def __init__(self, settings_cls: type[BaseSettings], environ: Mapping[str, str]) -> None:
        super().__init__(settings_cls)
        self.environ = environ

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        variable = f"{field_name.upper()}_FILE"
        path = self.environ.get(variable) if field.json_schema_extra else None
        return (read_secret(variable, path) if path else None), field_name, False

    def __call__(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, field in self.settings_cls.model_fields.items():
            value, key, _ = self.get_field_value(field, name)
            if value is not None:
                values[key] = value
        return values


EXAMPLE_HEAD = """\
# Every variable, with its default. All are optional. Copy to .env, or set them in the environment.
# A secret may also come from a file: NAME_FILE=/path/to/file.
# Made by `.venv/bin/python -m cms_project.env .env.example`.
"""


def sentences(
    error: ValidationError, model: type[BaseModel], environ: Mapping[str, str]
) -> list[str]:
    """Return one sentence per invalid variable, with its name. Values of secrets are not shown."""
    found: dict[str, str] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        reason = item["msg"].removeprefix("Value error, ").removeprefix("Input ")
        if not item["loc"]:
            found.setdefault(reason, f"{reason}.")
            continue
        field = str(item["loc"][0])
        name = field.upper()
        value = environ.get(name)
        is_secret = bool(model.model_fields[field].json_schema_extra)
        shown = f"is {value!r}" if value is not None and not is_secret else "has a wrong value"
        found.setdefault(name, f"{name} {shown}: {reason}.")
    return list(found.values())


def _as_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value)
    if isinstance(value, Path):
        return value.as_posix()
    return str(value)


def example_of(model: type[BaseModel]) -> str:
    """Return the text of `.env.example`: each variable commented out, with description and default."""
    lines = [EXAMPLE_HEAD]
    inherited = {name for base in model.__bases__ for name in getattr(base, "model_fields", {})}
    for name, field in sorted(model.model_fields.items(), key=lambda item: item[0] in inherited):
        lines.append(f"# {field.description}")
        lines.append(f"#{name.upper()}={_as_text(field.default)}")
    return "\n".join(lines) + "\n"


class Environment(
    ObservabilityEnvironment, MediaEnvironment, SignInEnvironment, ProviderEnvironment
):
    """All variables of the project. Their order and descriptions make `.env.example`."""

    model_config = SettingsConfigDict(
        env_file=BASE_DIR / ".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )
    # Django's settings look for this name at every read of a value. Without it, pydantic builds an error each time.
    _mask_wrapped: ClassVar[bool] = True

    port: Port = Field(8000, description="Port of the site in ./run.")
    mcp_port: Port = Field(8787, description="Port of the MCP server.")
    cms_data_dir: Folder = Field(
        Path("var"),
        validate_default=True,
        description="Folder of the SQLite file, media, queue and logs; relative to the project.",
    )
    export_folder: Folder | None = Field(
        None,
        description="Folder of scheduled exports on the workers' machines. Unset: only on the site.",
    )
    cms_static_dir: Folder | None = Field(
        None,
        description="Folder that collectstatic fills. Unset: CMS_DATA_DIR/static.",
    )
    cms_log_file: LogFile | None = Field(
        None,
        description="File for the log besides the terminal, or off. Unset: CMS_DATA_DIR/logs/cms.log on SQLite.",
    )
    debug: bool = Field(
        False, description="1: errors show tracebacks in the browser. Never in production."
    )
    secret_key: str | None = secret(
        "Signs sessions and links. Without DATABASE_URL, the site makes one and stores it in CMS_DATA_DIR.",
        min_length=50,
    )
    secret_key_fallbacks: Words = Field(
        (),
        repr=False,
        description="Previous keys, which still verify what they signed. Remove a key after two weeks.",
        json_schema_extra={"secret": True},
    )
    site_url: Url | None = Field(
        None,
        description="Public address. With https://, cookies are secure and the site redirects http.",
    )
    site_icon: str | None = Field(
        None,
        max_length=200,
        description="Icon in tabs and bookmarks: a static file of the project, such as site/icon.svg.",
    )
    allowed_hosts: Words = Field(
        ("localhost", "127.0.0.1", "[::1]"),
        description="Host names of the site. The host of SITE_URL is added.",
    )
    trusted_proxies: int = Field(
        0, ge=0, le=10, description="Number of proxies in front that add to X-Forwarded-For."
    )

    database_url: str | None = secret(
        "postgresql://user:password@host:5432/name. Unset: SQLite in CMS_DATA_DIR."
    )
    database_replica_url: str | None = secret(
        "Replica that the public site and the delivery API read from."
    )
    database_pool: bool = Field(
        True,
        description="0: no pool and no prepared statements, for a pooler in transaction mode.",
    )
    lane_database_url: str | None = secret(
        "The database under the role `proofroom_lane`, for the MCP server and workers of only the queue agents."
    )
    redis_url: RedisUrl | None = secret(
        "redis://host:6379/0: cache and queue. Unset: memory and files."
    )
    cms_cache_mib: int = Field(
        96,
        ge=3,
        le=100_000,
        description="Maximum size of the cache of each web process, in MiB.",
    )

    locales: Locales = Field(("en", "de"), min_length=1, description="Languages of the content.")
    default_locale: str = Field(
        "en", description="Language without a prefix in addresses. Unset: the first of LOCALES."
    )
    transliterate_slugs: bool = Field(
        False, description="New slugs without accents: “Über Café” becomes `ueber-cafe` in German."
    )

    throttle_user: Rate = Field("1000/hour", description="Management API, per account.")
    throttle_anon: Rate = Field("100/hour", description="Other anonymous calls, per address.")
    throttle_forms: Rate = Field("10/hour", description="Accepted form submissions, per address.")
    throttle_public: Rate = Field("600/minute", description="Delivery API, tracking and menus.")
    throttle_delivery: Rate = Field(
        "6000/minute", description="Delivery API with a delivery token, per token."
    )
    throttle_events: Rate = Field(
        "6000/hour", description="Views and clicks that are counted, per address."
    )
    throttle_trigger: Rate = Field("60/minute", description="Public agent trigger.")
    throttle_login: Rate = Field(
        "10/minute", description="Attempts to log in, per address and account."
    )
    throttle_mcp: Rate = Field("600/minute", description="MCP calls, per credential.")
    throttle_mcp_tool: Rate = Field(
        "300/minute", description="MCP calls of one tool, per credential."
    )
    throttle_mcp_costly: Rate = Field(
        "30/minute", description="MCP calls of one tool that starts a model, per credential."
    )
    throttle_oauth: Rate = Field("30/hour", description="AI clients that register, per address.")
    throttle_allow_ips: Networks = Field((), description="Addresses or networks without limits.")
    outgoing_allowed_hosts: Words = Field(
        (), description="Private hosts or networks that webhooks and fetches may reach."
    )
    webhook_retry_seconds: Seconds = Field(
        (30, 300, 1800, 7200, 21600, 54000),
        description="Waits before each retry of a webhook, in seconds.",
    )

    surrogate_key: bool = Field(
        False,
        description="1: answers name their tags in Surrogate-Key too, for Fastly and Varnish.",
    )
    changes_keep_days: int = Field(
        30, ge=1, le=3650, description="Days for which the list of public changes goes back."
    )
    webhook_delivery_days: int = Field(
        30, ge=1, le=3650, description="Days before finished deliveries are deleted."
    )
    activity_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Days before entries of the activity log are deleted. 0: never.",
    )

    notification_days: int = Field(
        90, ge=0, le=3650, description="Days before notifications are deleted. 0: never."
    )

    form_retention_days: int = Field(
        0, ge=0, le=36_500, description="Days before form submissions are deleted. 0: never."
    )

    feedback_days: int = Field(
        0, ge=0, le=36_500, description="Days before resolved feedback is deleted. 0: never."
    )

    comment_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Days before resolved comments are deleted with their replies. 0: never.",
    )

    invitation_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Days before ended invitations are deleted. 0: never.",
    )

    analytics_tracking: bool = Field(
        True, description="0: pages of the site have no script that counts views and clicks."
    )
    analytics_consent: bool = Field(
        False, description="1: nothing is counted before the visitor agrees."
    )
    analytics_batch: int = Field(
        5, ge=1, le=100, description="Number of clicks that a page sends together."
    )
    analytics_batch_seconds: int = Field(
        10, ge=1, le=3600, description="Seconds that a click waits for others, at most."
    )
    analytics_retention_days: int = Field(
        400,
        ge=0,
        le=36_500,
        description="Days before single views and clicks are deleted. 0: never.",
    )
    analytics_figures_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Days before totals of views and clicks are deleted. 0: never.",
    )

    search_engines: bool = Field(
        True, description="0: robots.txt forbids everything, for staging sites."
    )

    link_checks: bool = Field(
        True, description="0: links to other sites are not checked in the background."
    )
    trash_days: int = Field(
        30,
        ge=0,
        le=3650,
        description="Days before posts in the trash are deleted permanently. 0: never.",
    )

    embed_hosts: Hosts = Field(
        (),
        description="Hosts that pages may show in a frame, such as www.youtube-nocookie.com.",
    )
    oembed_providers: Endpoints = Field(
        {},
        description="More providers of embeds, as host=endpoint (oEmbed) with commas between them, "
        "such as photos.example=https://photos.example/oembed.",
    )

    agent_trigger_secret: str | None = secret("Secret of the public agent trigger.")
    agent_secret: str | None = secret("Signs outgoing webhooks.")
    agent_secret_previous: str | None = secret(
        "The previous AGENT_SECRET. Signs as well while you change the receivers."
    )
    agent_users_bootstrap_disabled: bool = Field(
        False, description="1: the start does not create accounts for agents."
    )
    cms_agents_dir: Folder | None = Field(None, description="Folder with more agents.")
    cms_workflows_dir: Folder | None = Field(None, description="Folder with more workflows.")
    workflow_secrets: NamedSecrets = Field(
        {},
        description='Secrets for the headers of workflows, as JSON: {"name": "value"}.',
        repr=False,
        json_schema_extra={"secret": True},
    )
    agent_run_timeout: int = Field(
        300, ge=1, le=86_400, description="Longest agent run, in seconds."
    )
    agent_step_cap: int = Field(20, ge=1, description="Maximum number of steps of an agent run.")
    agent_transcript_days: int = Field(
        30, ge=1, description="Days before transcripts of runs are deleted."
    )
    chat_webhook_url: Url | None = secret("Incoming webhook of a chat, for notices and reactions.")
    chat_events: Words = Field(
        ("post.published", "post.ai-review.save", "webhook.disabled"),
        description="Events that send a message to the chat.",
    )
    chat_mentions: bool = Field(
        True, description="Send a message to the chat when a comment mentions people."
    )

    email_url: EmailUrl | None = secret(
        "Mail server: smtp://user:password@host:587/?tls=true, or console:. Unset: no mail."
    )
    email_from: str | None = Field(
        None, description="Sender of mail. Unset: noreply@ and the host of SITE_URL."
    )
    two_factor_roles: Roles = Field(
        (), description="Roles that must log in with a second factor, such as admin,editor."
    )

    mcp_auth_token: str | None = secret(
        "Bearer token of the MCP server. Also replaces an unset AGENT_TRIGGER_SECRET."
    )
    mcp_auth_header_name: str | None = Field(
        None, pattern=r"^[A-Za-z0-9-]+$", description="Header that carries the MCP credential."
    )
    mcp_auth_header_value: str | None = secret("Value of that header.")
    mcp_system_user_id: int | None = Field(
        None,
        ge=1,
        description="ID of the account that clients with the static credential write as.",
    )
    mcp_allowed_hosts: Words = Field((), description="More host names of the MCP server.")
    mcp_url: Url | None = Field(
        None, description="Public address of the MCP server, ending in /mcp, as clients reach it."
    )
    mcp_commands: Commands = Field(
        ("check", "showmigrations", "dump_mcp_context"),
        description="Commands that run_ace_command may run: these, and doctor and verify_activity.",
    )
    mcp_tool_set: Literal["all", "core"] = Field(
        "all",
        description="core: tools/list answers the core set to every client, which finds the others with find_tools.",
    )
    mcp_diagnostics: bool = Field(
        False, description="1: the static MCP credential may use the diagnostics tools."
    )

    mcp_oauth: bool = Field(
        True,
        description="0: people cannot connect AI clients with their accounts; only tokens work.",
    )
    mcp_oauth_registration: bool = Field(
        True,
        description="0: AI clients cannot register. Clients with a document on the web still connect.",
    )
    mcp_oauth_issuer: Url | None = Field(
        None,
        description="Authorization server that issues tokens for AI clients in place of this site.",
    )
    mcp_oauth_account_claim: str = Field(
        "email",
        description="Claim in its tokens that names the account, by email or user name.",
    )
    mcp_oauth_introspection: NamedSecrets = Field(
        {},
        description='Programs that may ask about tokens, as JSON: {"name": "secret"}.',
        repr=False,
        json_schema_extra={"secret": True},
    )

    @model_validator(mode="before")
    @classmethod
    def _default_locale_follows(cls, data: dict[str, object]) -> dict[str, object]:
        locales = split(data.get("locales"))
        if isinstance(locales, tuple) and locales and not data.get("default_locale"):
            data["default_locale"] = locales[0]
        return data

    @model_validator(mode="after")
    def _fits_together(self) -> Environment:
        if self.default_locale not in self.locales:
            raise ValueError(
                f"DEFAULT_LOCALE is {self.default_locale!r}, "
                f"which is not in LOCALES ({', '.join(self.locales)})"
            )
        if (self.mcp_auth_header_name is None) != (self.mcp_auth_header_value is None):
            raise ValueError("set both MCP_AUTH_HEADER_NAME and MCP_AUTH_HEADER_VALUE, or neither")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings, env_settings, SecretFiles(settings_cls, os.environ), dotenv_settings)


def secrets_of(env: Environment) -> list[str]:
    """Return all configured secrets, to keep them out of logs."""
    names = [name for name, field in Environment.model_fields.items() if field.json_schema_extra]
    values = [getattr(env, name) for name in names]
    single = [value for value in values if isinstance(value, str)]
    named = [one for value in values if isinstance(value, dict) for one in value.values()]
    return [*single, *named, *env.other_provider_secrets]


def load() -> Environment:
    """Read the environment. Exit with one sentence per invalid variable."""
    problems: list[str] = []
    try:
        env = Environment()
    except ValidationError as error:
        problems += sentences(error, Environment, os.environ)
    except OSError as error:
        problems.append(str(error))
    if problems:
        raise SystemExit("\n".join(problems))
    return env


Plain = TypeVar("Plain", str, bool, int, float)


def own_variable(name: str, default: Plain) -> Plain:
    """Return a variable of the site itself, with the type of `default`, which replaces an empty value.

    It is read like the product's variables: from the environment, the file named by `<NAME>_FILE`, or `.env`. Exits
    with a sentence if it is invalid.
    """
    value = os.environ.get(name)
    if not value and (path := os.environ.get(f"{name}_FILE")):
        try:
            value = read_secret(f"{name}_FILE", path)
        except OSError as error:
            raise SystemExit(str(error)) from None
    value = value or DotEnvSettingsSource(Environment, case_sensitive=True).env_vars.get(name)
    if not value:
        return default
    try:
        return TypeAdapter(type(default)).validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].removeprefix("Input ")
        raise SystemExit(f"{name} is {value!r}: {reason}.") from None


if __name__ == "__main__":
    # A shell redirection would empty the file before this program reads the settings from it.
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(example_of(Environment), encoding="utf-8")
    else:
        print(example_of(Environment), end="")  # noqa: T201  # the output is the file
