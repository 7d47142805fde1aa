"""Django's settings. Values that differ between machines come from `cms_project.env`."""

from __future__ import annotations

import sys
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_lazy as _

from cms_project import folders, openapi
from cms_project.database import SQLITE, database_settings, lane_settings, replica_settings
from cms_project.email import TIMEOUT_SECONDS, email_settings
from cms_project.env import load, secrets_of
from cms_project.lane import is_lane_process
from cms_project.logs import log_file, logging_settings, terminal_stream
from cms_project.media_storage import media_origins, media_storage
from cms_project.observability import prepare_observability, start_sentry
from cms_project.own_packages import OWN_PACKAGES
from cms_project.security import close_to_others, content_security_policy, secret_key
from cms_project.sign_in import provider_apps, provider_settings

BASE_DIR = folders.BASE_DIR
CMS_ENV = load()
DATA_DIR = CMS_ENV.cms_data_dir
try:
    DATABASES = {
        "default": database_settings(CMS_ENV.database_url, DATA_DIR, has_pool=CMS_ENV.database_pool)
    }
except ValueError as error:
    raise SystemExit(f"DATABASE_URL has a wrong value: {error}.") from None
if CMS_ENV.lane_database_url:
    try:
        _lane = lane_settings(
            CMS_ENV.lane_database_url, DATABASES["default"], has_pool=CMS_ENV.database_pool
        )
    except ValueError as error:
        raise SystemExit(f"LANE_DATABASE_URL has a wrong value: {error}.") from None
    if is_lane_process(sys.argv):
        DATABASES["default"] = _lane
if CMS_ENV.database_replica_url and not is_lane_process(sys.argv):
    try:
        DATABASES["replica"] = replica_settings(
            CMS_ENV.database_replica_url, DATABASES["default"], has_pool=CMS_ENV.database_pool
        )
    except ValueError as error:
        raise SystemExit(f"DATABASE_REPLICA_URL has a wrong value: {error}.") from None
    DATABASE_ROUTERS = ["proofroom.core.database.replica.ReplicaRouter"]
PRODUCT_PACKAGES = OWN_PACKAGES
_is_embedded = DATABASES["default"]["ENGINE"] == SQLITE
STATIC_ROOT = CMS_ENV.cms_static_dir or DATA_DIR / "static"
try:
    if _is_embedded:
        close_to_others(DATA_DIR, DATABASES["default"]["NAME"])
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns if it is missing
except OSError as error:
    raise SystemExit(
        f"CMS_DATA_DIR or CMS_STATIC_DIR has a wrong value: {error.filename} cannot be created or used as a folder "
        f"({error.strerror})."
    ) from None
prepare_observability(CMS_ENV, DATA_DIR)

DEBUG = CMS_ENV.debug
SECRET_KEY = secret_key(
    given=CMS_ENV.secret_key,
    data_dir=DATA_DIR,
    may_generate=DEBUG or CMS_ENV.database_url is None,
)
SECRET_KEY_FALLBACKS = list(CMS_ENV.secret_key_fallbacks)
SITE_URL = CMS_ENV.site_url or f"http://127.0.0.1:{CMS_ENV.port}"
_site = urlsplit(SITE_URL)
_is_https = _site.scheme == "https"
ALLOWED_HOSTS = [*CMS_ENV.allowed_hosts, *([_site.hostname] if _site.hostname else [])]

INSTALLED_APPS = [
    "cms_project.apps.ProductFilesConfig",
    "cms_project.apps.CmsAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    *provider_apps(CMS_ENV),
    "oauth2_provider",
    "proofroom.core",
    "proofroom.accounts",
    "proofroom.oauth",
    "proofroom.archive",
    "proofroom.notifications",
    "proofroom.webhooks",
    "proofroom.shared_content",
    "proofroom.briefs",
    "proofroom.disclosure",
    "media",
    "content",
    "proofroom_apps.starter",
    "proofroom_apps.menus",
    "proofroom_apps.snippets",
    "proofroom_apps.embeds",
    "proofroom.taxonomies",
    "proofroom_apps.website",
    "proofroom_apps.previews",
    "proofroom_apps.reviewers",
    "proofroom_apps.editorial",
    "proofroom_apps.feedback",
    "proofroom_apps.comments",
    "proofroom_apps.releases",
    "proofroom_apps.calendar",
    "proofroom_apps.steps",
    "proofroom_apps.privacy",
    "proofroom_apps.imports",
    "forms",
    "seo",
    "analytics",
    "agents_app",
    "mcp_bridge",
]

MIDDLEWARE = [
    "proofroom.core.observability.middleware.observe_request",
    "proofroom.core.caching.front_cache.front_cache",
    "proofroom.core.middleware.plain_host",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "proofroom.core.middleware.ContentSecurityPolicyMiddleware",
    "proofroom.core.middleware.PublicOriginsMiddleware",
    "proofroom.core.middleware.ManagementSessionMiddleware",
    "proofroom.core.middleware.AdminLocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "proofroom.core.middleware.ManagementCsrfMiddleware",
    "proofroom.core.middleware.ManagementAuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "proofroom.accounts.middleware.PreferencesMiddleware",
    "proofroom.accounts.middleware.SecondFactorMiddleware",
    "proofroom.core.middleware.StaffMarkerMiddleware",
    "proofroom.core.middleware.ManagementMessageMiddleware",
    "proofroom.core.middleware.AdminInputMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "seo.middleware.RedirectMiddleware",
]
# Paths on which `proofroom.core.middleware` runs sessions and the rest, and exceptions.
MANAGEMENT_PREFIXES = ("/admin/", "/api/", "/preview/")
PUBLIC_PREFIXES = ("/api/public/", "/api/menus/by-slug/")
READER_LANGUAGE_PREFIXES = ("/admin/", "/preview/")

ROOT_URLCONF = "cms_project.urls"
WSGI_APPLICATION = "cms_project.wsgi.application"
ASGI_APPLICATION = "cms_project.asgi.application"
# Seconds between the checks of each process for updates of open pages.
LIVE_POLL_SECONDS = 0.5

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": (
        {
            "BACKEND": "proofroom.core.caching.redis_cache.CountingRedisCache",
            "LOCATION": CMS_ENV.redis_url,
            # A Redis that does not answer must not delay requests that can be answered without it.
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 2},
        }
        if CMS_ENV.redis_url
        else {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "OPTIONS": {"MAX_ENTRIES": 10_000},  # counters of many callers
        }
    )
}
# Sizes of each web process's own caches, with or without Redis: whole answers, and parts of pages.
SURROGATE_KEY = CMS_ENV.surrogate_key
KEPT_ANSWERS_BYTES = CMS_ENV.cms_cache_mib * 1024 * 1024 * 2 // 3
CONTENT_MEMO_BYTES = CMS_ENV.cms_cache_mib * 1024 * 1024 // 3

# Not `cached_db`: a request in the moment when a session ends would cache it again, and it would live on.
SESSION_ENGINE = "django.contrib.sessions.backends.db"

STATIC_URL = "/static/"
MEDIA_URL = "/media/"
MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    "default": media_storage(CMS_ENV),
    "staticfiles": {"BACKEND": "cms_project.static_files.HashedStaticFiles"},
}
# Without `collectstatic` (the demo), files are served from their source folders.
WHITENOISE_USE_FINDERS = DEBUG or not (STATIC_ROOT / "staticfiles.json").exists()
WHITENOISE_AUTOREFRESH = DEBUG
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
# The form of a post with hundreds of modules has thousands of fields.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000

AUTH_USER_MODEL = "proofroom_accounts.User"
AUTHENTICATION_BACKENDS = ["proofroom.accounts.backends.RoleBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
PASSWORD_RESET_TIMEOUT = 60 * 60
ACCOUNT_ADAPTER = "proofroom.accounts.allauth_adapters.AccountAdapter"
ACCOUNT_FORMS = {"reset_password_from_key": "proofroom.accounts.allauth_forms.NewPasswordForm"}
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_SIGNUP_ENABLED = False
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_CONFIRMATION_EXPIRE_DAYS = 1
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # before the email changes
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa") if CMS_ENV.password_login else ("mfa",)
# `proofroom.accounts.login_limits` limits passwords, allauth limits codes.
MFA_ADAPTER = "proofroom.accounts.allauth_adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RECOVERY_CODE_DIGITS = 10
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_TOLERANCE = 1
TWO_FACTOR_ROLES = frozenset(CMS_ENV.two_factor_roles)

PASSWORD_LOGIN = CMS_ENV.password_login
PROVIDER_ID = CMS_ENV.sso_provider or ""
PROVIDER_NAME = CMS_ENV.sso_name if PROVIDER_ID else ""
PROVIDER_ROLE_CLAIM = CMS_ENV.sso_role_claim
PROVIDER_ROLES = CMS_ENV.sso_roles
PROVIDER_DEFAULT_ROLE = CMS_ENV.sso_default_role
SOCIALACCOUNT_ADAPTER = "proofroom.accounts.provider_adapter.ProviderAdapter"
SOCIALACCOUNT_PROVIDERS = provider_settings(CMS_ENV)
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True

HAS_EMAIL = CMS_ENV.email_url is not None
vars().update(email_settings(CMS_ENV.email_url))
EMAIL_TIMEOUT = TIMEOUT_SECONDS
DEFAULT_FROM_EMAIL = SERVER_EMAIL = CMS_ENV.email_from or f"noreply@{_site.hostname}"

LANGUAGE_CODE = "en"
FORMAT_MODULE_PATH = "cms_project.formats"
# Languages of the admin. The languages of the content are CMS_ENV.locales.
LANGUAGES = [("en", _("English")), ("de", _("German"))]
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

SECURE_CSP = content_security_policy(
    frame_hosts=CMS_ENV.embed_hosts, image_origins=media_origins(CMS_ENV)
)
SECURE_CSP_REPORT_ONLY: dict[str, list[str]] = {}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = _is_https
# Load balancers call these over http.
SECURE_REDIRECT_EXEMPT = [r"^health(/live|/ready|/metrics)?$"]
SECURE_HSTS_SECONDS = 31_536_000 if _is_https else 0
# Only behind a trusted proxy: otherwise any client could send this header.
if CMS_ENV.trusted_proxies:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _is_https
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_TRUSTED_ORIGINS = [f"{_site.scheme}://{_site.netloc}"]
CSRF_FAILURE_VIEW = "cms_project.errors.csrf_failure"
# `proofroom.core.middleware` makes exceptions for pages that the admin shows in a frame.
X_FRAME_OPTIONS = "DENY"
SILENCED_SYSTEM_CHECKS = [
    "security.W003",  # CSRF runs as proofroom.core.middleware.ManagementCsrfMiddleware, a subclass
    "security.W005",  # the owner of the domain decides if all sub-domains use HTTPS
    "oauth2_provider.W008",  # native clients get their response over http; `OAuthClient` checks redirect URIs
    "security.W021",  # the owner of the domain also decides on the browsers' preload list
]

THROTTLE_RATES = {
    "user": CMS_ENV.throttle_user,
    "anon": CMS_ENV.throttle_anon,
    "forms": CMS_ENV.throttle_forms,
    "public": CMS_ENV.throttle_public,
    "delivery": CMS_ENV.throttle_delivery,
    "events": CMS_ENV.throttle_events,
    "trigger": CMS_ENV.throttle_trigger,
    "login": CMS_ENV.throttle_login,
    "mcp": CMS_ENV.throttle_mcp,
    "oauth": CMS_ENV.throttle_oauth,
}
# Settings on which the security of the library depends. Our own rules are in `proofroom.oauth.validator`.
OAUTH2_PROVIDER_APPLICATION_MODEL = "proofroom_oauth.OAuthClient"
OAUTH2_PROVIDER = {
    "OIDC_ISS_ENDPOINT": SITE_URL,
    "OAUTH2_VALIDATOR_CLASS": "proofroom.oauth.validator.ConnectionValidator",
    "SCOPES_BACKEND_CLASS": "proofroom.oauth.scopes.KnownScopes",
    "ACCESS_TOKEN_GENERATOR": "proofroom.oauth.token_values.make_access_token",
    "REFRESH_TOKEN_GENERATOR": "proofroom.oauth.token_values.make_refresh_token",
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 86_400,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "ALLOW_LOCALHOST_LOOPBACK": True,  # native clients register it without the port, which varies
    "CIMD_ENABLED": True,
    "CIMD_METADATA_FETCHER": "proofroom.oauth.client_metadata.DocumentFetcher",
    "CIMD_REGISTRATION_PERMISSION_CLASSES": ("proofroom.oauth.client_metadata.DocumentLimit",),
    **{
        f"COMPLIANT_BCP_RFC9700_{rule}": True
        for rule in (
            "ACCESS_TOKEN_TRANSPORT",
            "AUTHZ_RESPONSE_ISS",
            "IMPLICIT_GRANT",
            "PASSWORD_GRANT",
            "PKCE_METHOD",
            "PKCE_REQUIRED",
            "REDIRECT_URI_MATCHING",
            "REFRESH_TOKEN",
            "TOKEN_STORAGE",
        )
    },
}
REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "proofroom.core.api.view_schema.DescribedSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "proofroom.accounts.backends.TokenAuthentication",  # first: a wrong token is refused despite a session
        "proofroom.core.api.permissions.ManagementSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["proofroom.core.api.permissions.DeclaredPermission"],
    "DEFAULT_THROTTLE_CLASSES": ["proofroom.core.api.throttles.WindowThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["proofroom.core.api.json_format.OrjsonRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "proofroom.core.api.negotiation.ContentNegotiation",
    "DEFAULT_PARSER_CLASSES": ["proofroom.core.api.json_format.StrictJsonParser"],
    "EXCEPTION_HANDLER": "proofroom.core.api.exceptions.handle",
    "URL_FORMAT_OVERRIDE": None,  # ?format= is a query parameter like any other
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = openapi.SPECTACULAR_SETTINGS

TASK_APP = "cms_project.celery.app"
if CMS_ENV.redis_url:
    CELERY_BROKER_URL = CMS_ENV.redis_url
    # Redis delivers a message to a second worker if the first has not finished by then.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
        "visibility_timeout": max(3600, CMS_ENV.agent_run_timeout + 600)
    }
else:
    _queue = DATA_DIR / "queue"
    for _folder in (_queue, _queue / "control"):
        _folder.mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_URL = "filesystem://localhost"  # the host has no meaning
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_queue),
        "data_folder_out": str(_queue),
        "control_folder": str(_queue / "control"),
        "polling_interval": 0.1,
    }
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
# Workers take from all queues in turn, so thousands of messages about events do not delay deliveries. Agents wait
# minutes for providers, so the worker of `agents` should have no other queue.
CELERY_TASK_QUEUES = {name: {"routing_key": name} for name in ("celery", "deliveries", "agents")}
CELERY_TASK_ROUTES = {
    "webhooks.tasks.*": {"queue": "deliveries"},
    "agents_app.tasks.run_agent": {"queue": "agents"},
    "agents_app.tasks.call_reaction": {"queue": "agents"},
    "agents_app.tasks.run_evaluation": {"queue": "agents"},
    # Run by the worker that runs agents, because it has their environment and network.
    "agents_app.tasks.test_provider": {"queue": "agents"},
}
CELERY_TASK_IGNORE_RESULT = True
# A task is acknowledged after it ran, so a worker that is killed loses none. Tasks are idempotent.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE_FILENAME = str(DATA_DIR / "beat-schedule")
_TASK_SECONDS = {
    "core.tasks.sweep_events": 30.0,
    "core.tasks.seal_events": 10.0,
    **({"core.tasks.export_readings": 60.0} if CMS_ENV.otel_exporter_otlp_endpoint else {}),
    "notifications.tasks.mail": 300.0,
    "webhooks.tasks.sweep_deliveries": 10.0,
    "agents_app.tasks.sweep_runs": 30.0,
    "agents_app.tasks.sweep_reactions": 30.0,
    "comments.tasks.remind_of_due": 60.0,
    "steps.tasks.remind_of_due": 60.0,
    "content.tasks.publish_due_posts": 60.0,
    "content.tasks.sweep_decisions": 30.0,
    "embeds.tasks.fetch_due_facts": 60.0,
    **({"content.tasks.check_links": 60.0} if CMS_ENV.link_checks else {}),
    "imports.tasks.sweep_imports": 60.0,
    "media.tasks.sweep_variants": 30.0,
    "media.tasks.delete_files": 300.0,
    "media.tasks.check_files": 300.0,
    "analytics.tasks.add_up_events": 30.0,
}
_HOURLY_TASKS = (
    "agents_app.tasks.keep_reactions",
    "content.tasks.purge_trash",
    "content.tasks.collect_search_words",
    "privacy.tasks.delete_expired_exports",
    "notifications.tasks.digest",
)
DAILY_TASKS = (
    "core.tasks.prune_activity",
    "notifications.tasks.purge",
    "oauth.tasks.purge",
    "webhooks.tasks.prune_deliveries",
    "agents_app.tasks.prune_transcripts",
    "previews.tasks.forget_old_links",
    "forms.tasks.prune_submissions",
    "analytics.tasks.merge_rare_figures",
    "analytics.tasks.prune_events",
    "mcp_bridge.tasks.prune_calls",
    "accounts.tasks.purge_sign_ins",
    "feedback.tasks.prune_feedback",
    "reviewers.tasks.forget_old_links",
    "content.tasks.prune_changes",
    "comments.tasks.prune_comments",
)
# Cron times instead of intervals: a scheduler that restarts without its file would begin a new interval. Twice a day,
# so that a scheduler which restarts at the same time every day misses none.
_TASK_TIMES = {
    **{name: (f"{7 * n % 60} * * * *", 3_600) for n, name in enumerate(_HOURLY_TASKS)},
    **{
        name: (f"{7 * n % 60} {1 + n % 5},{13 + n % 5} * * *", 43_200)
        for n, name in enumerate(DAILY_TASKS)
    },
}
# Sweeps read rows, so one that waited longer than its interval is useless.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    name: {"task": name, "schedule": schedule, "options": {"expires": seconds}}
    for name, (schedule, seconds) in {
        **{name: (seconds, seconds) for name, seconds in _TASK_SECONDS.items()},
        **_TASK_TIMES,
    }.items()
}

LOGGING = logging_settings(
    file=log_file(
        CMS_ENV.cms_log_file, embedded=DATA_DIR / "logs/cms.log" if _is_embedded else None
    ),
    stream=terminal_stream(sys.argv),
    secrets=[SECRET_KEY, *secrets_of(CMS_ENV)],
    level="INFO",
    terminal_format=CMS_ENV.log_format,
)
start_sentry(CMS_ENV, [SECRET_KEY, *secrets_of(CMS_ENV)])
