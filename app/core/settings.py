"""Settings: from the environment (`JURADO_...`) or `jurado.toml` in the working folder, the environment first."""

import re
from base64 import urlsafe_b64decode
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from app.core.files.s3 import S3, address_of
from app.sandbox.model import ALLOWED

# Settings that hold a password, a key or a token, and are shown to no one.
SECRETS = frozenset({
    "admin_password", "broker_url", "database_url", "files_url", "metrics_token", "secret_key",
})  # fmt: skip
PREFIX = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*")
ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
TOKEN = re.compile(r"[!-~]{16,}")
SECRET_KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
KEY_BYTES = 32
OWN = frozenset({"api", "docs", "health", "metrics", "openapi.json", "static"})


def path_prefix(text: str) -> str:
    """A path prefix without a slash at its end, empty for none; raises ValueError for what is none.

    It may not begin as the service's own addresses do: whether a proxy has taken it off could not be told.
    """
    prefix = text.rstrip("/")
    if not PREFIX.fullmatch(prefix):
        raise ValueError(f"expected a path such as /jurado, found {text!r}")
    if prefix.split("/")[1:2] and prefix.split("/")[1] in OWN:
        raise ValueError(f"expected a path that does not begin with {prefix.split('/')[1]!r}, found {text!r}")
    return prefix


def secret_keys_of(text: str) -> list[str]:
    """Keys with white space or commas between them; raises ValueError, which shows none of them, for what is none."""
    keys = text.replace(",", " ").split()
    for key in keys:
        if not SECRET_KEY.fullmatch(key) or len(urlsafe_b64decode(key)) != KEY_BYTES:
            raise ValueError(f"expected keys of {KEY_BYTES} bytes in URL-safe Base64, found something else")
    return keys


def with_port(url: str) -> str:
    """The address; raises ValueError, which shows no secret, for a port that is none."""
    try:
        urlsplit(url).port  # noqa: B018 - its look is the check
    except ValueError as error:
        raise ValueError(f"expected a port or none behind the host: {error}") from None
    return url


def store(url: str) -> str:
    """The address of a file store: a folder, a bucket, or nothing."""
    if url.startswith(S3):
        address_of(url)
    elif url and not url.startswith("file:///"):
        raise ValueError(f"expected file:///FOLDER or s3://BUCKET/PREFIX, found {url.partition(':')[0]}:...")
    return url


def token(text: str) -> str:
    """A token that is hard to guess, or nothing."""
    if text and not TOKEN.fullmatch(text):
        raise ValueError("expected 16 visible ASCII characters or more, or nothing, found a secret")
    return text


def keys(text: str) -> str:
    """Secret keys, see `secret_keys_of`."""
    secret_keys_of(text)
    return text


def all_of(check: Callable[[str], object], expected: str) -> AfterValidator:
    """Give the validator of a text whose parts, with commas between them, all pass a check."""

    def checked(text: str) -> str:
        for each in listed(text):
            try:
                check(each)
            except (ValueError, PackageNotFoundError):
                raise ValueError(f"expected {expected}, found {each!r}") from None
        return text

    return AfterValidator(checked)


def origins_in(text: str) -> str:
    """Origins with commas between them, in lowercase."""
    for each in listed(text):
        if not ORIGIN.fullmatch(each):
            raise ValueError(f"expected origins such as https://board.example, found {each!r}")
    return text.lower()


def listed(text: str) -> list[str]:
    """The parts of a text with commas between them, without empty ones."""
    return [each for each in map(str.strip, text.split(",")) if each]


Networks = Annotated[str, all_of(ip_network, "addresses or networks")]


class Timeouts(NamedTuple):
    """Timeouts of the database, most of them of PostgreSQL, in seconds; 0: none."""

    read: float = 30.0  # one query of a request that only reads
    write: float = 60.0  # one statement that keeps submissions, verdicts
    long: float = 900.0  # one statement of boards, imports, exports and backups, and their pauses between statements
    migration: float = 7200.0  # one statement of a migration
    lock: float = 10.0  # waiting for what another transaction has locked
    idle: float = 20.0  # a short transaction that is open without a statement
    silent: float = 20.0  # a connection whose network acknowledges nothing
    reply: float = 5.0  # the reply to a statement outside of transactions, or beyond the timeout of one within
    busy: float = 30.0  # the lock of SQLite


DEFAULT_TIMEOUTS = Timeouts()


class Settings(BaseSettings):
    """Everything one may set. Sizes are bytes, times seconds."""

    model_config = SettingsConfigDict(
        env_prefix="JURADO_", toml_file="jurado.toml", extra="forbid", hide_input_in_errors=True
    )

    home: Path = Field(Path("var"), description="folder of the embedded database and files")
    database_url: str = Field("", description="database; empty: SQLite in JURADO_HOME")
    database_silent_seconds: float = Field(
        DEFAULT_TIMEOUTS.silent, ge=0, description="seconds without a response after which a connection is closed"
    )
    files_url: Annotated[str, AfterValidator(store)] = Field(
        "", description="file store, file:///... or s3://BUCKET/PREFIX; empty: the folder files in JURADO_HOME"
    )
    files_seconds: float = Field(
        10.0, gt=0, description="seconds for one request to S3; failed requests are retried for as long"
    )
    files_cache_bytes: int = Field(
        4 * 2**30, ge=0, description="bytes of copies of files on S3 that stay in JURADO_HOME/cache/files"
    )
    broker_url: str = Field(
        "",
        description="RabbitMQ, amqp://...: many servers and workers on PostgreSQL; empty: one server that judges",
    )
    drain_seconds: float = Field(
        0.0, ge=0, description="seconds to keep serving after SIGTERM while reporting that it is not ready"
    )
    host: str = Field("127.0.0.1", description="address to listen on")
    root_path: Annotated[str, AfterValidator(path_prefix)] = Field(
        "", description="path prefix under which a proxy shows the service, such as /jurado"
    )
    trusted_proxies: Networks = Field(
        "127.0.0.1,::1",
        description="addresses and networks of proxies whose X-Forwarded-For, -Proto, -Host count",
    )
    allowed_origins: Annotated[str, AfterValidator(origins_in)] = Field(
        "",
        description="origins whose pages may change things with a password, such as https://board.example; tokens: any",
    )
    language: Literal["en", "es", "sk", "ru", "ja"] = Field(
        "en", description="default language of pages, if the browser asks for none of the five"
    )
    daily: Literal["on", "off"] = Field(
        "on", description="puzzles of the day at /daily; off: no page, link and route of them"
    )
    port: int = Field(8000, ge=0, le=65535, description="port to listen on; 0: any free one")
    admin_password: str = Field("", description="password of the account admin; empty: one is made at the first start")
    metrics_token: Annotated[str, AfterValidator(token)] = Field(
        "", description="token with which Prometheus may read /metrics; empty: only admins may"
    )
    metrics_port: int = Field(
        0, ge=0, le=65535, description="port on JURADO_HOST where a worker shows its /metrics; 0: none"
    )
    secret_key: Annotated[str, AfterValidator(keys)] = Field(
        "",
        description="keys, the newest first, that encrypt tokens of webhooks; empty: secret.key in JURADO_HOME alone",
    )
    otel: bool = Field(
        False, description="send traces of requests and judging by OpenTelemetry, to where OTEL_EXPORTER_OTLP_... say"
    )
    log_level: Literal["auto", "debug", "info", "warning", "error"] = Field(
        "auto", description="minimum log level; auto: info, on a terminal warning; debug also logs successful requests"
    )
    graders: int = Field(0, ge=0, description="grader processes; 0: one less than the cores, at least one")
    grader_memory: int = Field(2 * 2**30, description="memory a grader may use")
    most_unjudged: int = Field(
        100, ge=1, description="submissions of one team that may wait for their verdict; what comes then gets 429"
    )
    check_seconds: float = Field(10.0, gt=0, description="time one case's checker may take before it counts as failed")
    most_check_seconds: float = Field(
        60.0, gt=0, description="time that a package may give its own checker (limits.validation_time); more is refused"
    )
    checker_modules: Annotated[str, all_of(distribution, "distributions installed beside the service")] = Field(
        "numpy",
        description="installed distributions, with commas, that packages' checkers in Python may import; empty: none",
    )
    programs_as_root: Literal["refuse", "allow"] = Field(
        "refuse",
        description="whether programs of packages run if the service's user is root; refuse: such packages are refused",
    )
    max_upload: int = Field(64 * 2**20, description="bytes a request may carry")
    max_package: int = Field(2 * 2**30, description="maximum bytes of an imported problem package")
    max_inflated: int = Field(256 * 2**20, description="bytes all archives of a request may inflate to")

    scrub_hours: float = Field(
        24.0, ge=0, description="hours between two passes that read all stored files and remove orphans; 0: none"
    )

    audit_days: int = Field(730, ge=0, description="days to keep entries of the audit log; 0: forever")

    feed_coalesce_seconds: float = Field(
        10.0, ge=0, description="how long changed points of other submissions may wait before the event feed tells them"
    )
    feed_keep_alive_seconds: float = Field(
        30.0, gt=0, le=110, description="silence after which an event feed sends an empty line"
    )
    most_connections_of_one: int = Field(
        2_000,
        ge=1,
        description="maximum connections of one address (a school may share one); trusted proxies: unlimited",
    )
    most_streams: int = Field(
        10_000, ge=1, description="feeds and other streams one server process keeps open; what comes then gets 503"
    )
    most_streams_of_one: int = Field(
        1000,
        ge=1,
        description="streams of one account, or of one address for those not logged in, as a whole school may share it",
    )
    most_games_of_one: int = Field(
        20, ge=1, description="practice games that one account, or one address without login, may have open at once"
    )
    webhook_networks: Networks = Field(
        "", description="networks that are not public and that webhooks may call all the same, such as 10.1.0.0/16"
    )

    # Bounds that are the same everywhere: no installation has a reason to change them.
    max_package_inflated: ClassVar = 4 * 2**30
    max_package_files: ClassVar = 50_000
    max_archive_files: ClassVar = 2000  # of one request, those in its archives included
    max_ratio: ClassVar = 200  # how many times larger than packed the archives of a request may inflate
    package_read_seconds: ClassVar = 60.0  # of the processor, for one package or the documents of a contest package
    package_check_seconds: ClassVar = 900.0  # of graders, for the checks of one package
    max_import_files: ClassVar = 50_000  # of a contest package
    max_import_document: ClassVar = 32 * 2**20  # bytes of one document of a contest package
    max_import_objects: ClassVar = 50_000  # of one document of a contest package
    most_connections: ClassVar = 20_000  # never more than the limit of open files leaves room for
    most_streams_of_nobody: ClassVar = 0.75  # the share of streams for clients that are not logged in
    most_reads: ClassVar = 16  # below /api at once, until their replies begin; the pool of the database has 20
    most_reads_of_one: ClassVar = 6  # of these, of one account, and of all that are not logged in
    list_slice: ClassVar = 256  # submissions whose rows are read at once for a list of submissions, judgements or runs
    most_games: ClassVar = 20_000  # open at once; three quarters for practice
    read_wait_seconds: ClassVar = 5.0  # of a read for its place, before it gets 503
    webhook_timeout_seconds: ClassVar = 10.0  # for the answer of a webhook
    webhook_retry_seconds: ClassVar = 1.0  # before the next call of one that failed; doubles up to a minute
    webhook_give_up_seconds: ClassVar = 86_400.0  # after which a webhook that fails is called no more
    most_swept: ClassVar = 128  # submissions that one look of the feed takes where all are to be looked at
    health_seconds: ClassVar = 2.0  # for the answer of the database to the question whether the service is ready
    notice_seconds: ClassVar = 1.0  # for the notice of an event of the feed that another process has written

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then jurado.toml."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @field_validator("database_url")
    @classmethod
    def _a_database_we_know(cls, url: str) -> str:
        if url and not url.startswith(("postgresql://", "postgres://", "postgresql+psycopg://", "sqlite:///")):
            raise ValueError(f"expected postgresql://... or nothing (SQLite), found {url.partition(':')[0]}:...")
        if url.startswith("postgres") and find_spec("psycopg") is None:
            raise ValueError("PostgreSQL needs the extra postgres: pip install 'jurado[postgres]'")
        return with_port(url)

    @field_validator("broker_url")
    @classmethod
    def _a_broker_we_know(cls, url: str, fields: ValidationInfo) -> str:
        if url and not url.startswith(("amqp://", "amqps://")):
            raise ValueError(f"expected amqp://... or nothing (one server), found {url.partition(':')[0]}:...")
        if url and not fields.data.get("database_url", "postgres").startswith("postgres"):
            raise ValueError("requires a database_url of PostgreSQL, found SQLite")
        return with_port(url)

    @property
    def has_daily(self) -> bool:
        """Are there puzzles of the day?"""
        return self.daily == "on"

    @property
    def may_run_as_root(self) -> bool:
        """Whether programs of packages may run although this process belongs to root."""
        return self.programs_as_root == ALLOWED

    @property
    def distributed(self) -> bool:
        """Whether other servers and workers may use the same database."""
        return bool(self.broker_url)

    @property
    def origins(self) -> list[str]:
        """The origins whose pages are trusted as our own are."""
        return listed(self.allowed_origins)

    @property
    def database(self) -> str:
        """The database URL in SQLAlchemy's spelling."""
        url = self.database_url or f"sqlite:///{self.home.resolve() / 'jurado.db'}"
        for plain in ("postgresql://", "postgres://"):
            if url.startswith(plain):
                return "postgresql+psycopg://" + url.removeprefix(plain)
        return url

    @property
    def timeouts(self) -> Timeouts:
        """The timeouts of PostgreSQL."""
        return Timeouts(silent=self.database_silent_seconds)

    @property
    def files(self) -> str:
        """The address of the file store: file:///... or s3://..."""
        return self.files_url or f"file://{self.home.resolve() / 'files'}"
