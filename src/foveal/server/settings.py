"""Resolve the settings of the service into one frozen `Serving`.

It listens on loopback by default, elsewhere only with a token. Of a token only the hash is kept.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from foveal import config
from foveal.config import Loaded
from foveal.errors import ConfigError

HOST = "127.0.0.1"
PORT = 8790
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
TOKEN_LEAST = 16
"""Characters of a token; a shorter one can be guessed."""
KEYS = ("host", "port", "hosts", "allowed_origins", "workspaces", "tokens")
_LISTS = ("hosts", "allowed_origins", "workspaces")
_ORIGIN = re.compile(r"https?://[a-z0-9.\-\[\]:_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Where the service listens, which clients it accepts, and which tenant each token belongs to."""

    host: str = HOST
    port: int = PORT
    hosts: tuple[str, ...] = ()
    """Host names that it accepts besides the loopback ones."""
    allowed_origins: tuple[str, ...] = ()
    """Other origins whose pages may call it."""
    workspaces: tuple[str, ...] = ()
    """Folders that clients with a token may have read, with everything below them."""
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The tenant by the hash of its token. Empty: no token is required."""
    metrics_token: str = field(default="", repr=False)
    """The hash of the token that reads the metrics of all tenants, and nothing else."""

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)

    def reads_metrics(self, token: str) -> bool:
        """Whether this is the token of the operator, for the metrics of all tenants."""
        return bool(self.metrics_token) and hmac.compare_digest(self.metrics_token, hashed(token))

    def tenant_of(self, token: str) -> str | None:
        """The tenant of a token, compared with all of them in constant time."""
        given, found = hashed(token), None
        for known, tenant in self.tokens.items():
            if hmac.compare_digest(known, given):
                found = tenant
        return found


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_loopback(host: str) -> bool:
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serving(
    loaded: Loaded,
    options: Mapping[str, str | int | None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Serving:
    """Resolve every value: an option beats a variable, which beats the files."""
    values: dict[str, object] = {key: loaded.serve[key] for key in _known(loaded.serve)}
    variables = config.serve_variables(environment)
    for name, text in variables.items():
        key = name.removeprefix("SERVE_").lower()
        if key not in ("token", "metrics_token"):
            values[key] = text.split(",") if key in _LISTS else text
    values |= {key: value for key, value in (options or {}).items() if value is not None}
    metrics = variables.get("METRICS_TOKEN", "").strip()
    found = Serving(
        host=_text(values.get("host", HOST), "host"),
        port=_port(values.get("port", PORT)),
        hosts=tuple(host.lower() for host in _texts(values, "hosts")),
        allowed_origins=tuple(map(_origin, _texts(values, "allowed_origins"))),
        workspaces=tuple(str(Path(each).expanduser().resolve()) for each in _texts(values, "workspaces")),
        metrics_token=_hash_of_strong(metrics, "FOVEAL_METRICS_TOKEN") if metrics else "",
        tokens=_tokens(values.get("tokens", {}), variables.get("TOKEN", ""), loaded, environment),
    )
    if found.metrics_token in found.tokens:
        remedy = "give `FOVEAL_METRICS_TOKEN` a value of its own"
        raise ConfigError("the token of the metrics is that of a tenant", remedy=remedy, field="tokens")
    if not found.tokens and not found.loopback:
        raise ConfigError(
            f"`host` is {found.host}, which others can reach, and there is no token",
            remedy="set `FOVEAL_TOKEN` to a long random text, or listen on 127.0.0.1",
            field="host",
        )
    return found


def _known(table: Mapping[str, object]) -> Mapping[str, object]:
    for key in table:
        if key not in KEYS:
            raise ConfigError(
                f"`[serve]`: unknown setting `{key}`", remedy=config.nearest(key, KEYS), field=key
            )
    return table


def _text(value: object, key: str) -> str:
    if isinstance(value, str) and value:
        return value
    raise ConfigError(f"`[serve]`: `{key}` is {value!r}", remedy=f"make `{key}` text in quotes", field=key)


def _port(value: object) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 65_535:
        return number
    raise ConfigError(
        f"`[serve]`: `port` is {value!r}", remedy="make `port` an integer from 0 to 65535", field="port"
    )


def _texts(values: Mapping[str, object], key: str) -> list[str]:
    found = values.get(key, [])
    if isinstance(found, list) and all(isinstance(each, str) for each in found):
        return [each.strip() for each in found if each.strip()]
    raise ConfigError(
        f"`[serve]`: `{key}` is not a list of texts", remedy=f'write it as `{key} = ["…"]`', field=key
    )


def _origin(text: str) -> str:
    """A scheme and a host as browsers write them."""
    origin = text.rstrip("/").lower()
    if _ORIGIN.fullmatch(origin) and urlsplit(origin).path == "":
        return origin
    raise ConfigError(
        f"`[serve]`: {text!r} in `allowed_origins` is not an origin",
        remedy="write a scheme and a host, such as `https://app.example.com`",
        field="allowed_origins",
    )


def _tokens(
    table: object, own: str, loaded: Loaded, environment: Mapping[str, str] | None
) -> Mapping[str, str]:
    """The tenant by token hash, from a table of tenants by the variable that has the token."""
    if not isinstance(table, dict) or not all(isinstance(each, str) and each for each in table.values()):
        raise ConfigError(
            "`[serve]`: `tokens` is not a table of tenants",
            remedy='write `[serve.tokens]`, and below it `ACME_TOKEN = "acme"`: a variable and its tenant',
            field="tokens",
        )
    found = {}
    for variable, tenant in table.items():
        config.variable_name(variable, "serve.tokens")
        found[_hash_of_strong(config.secret(variable, environment, setting="serve.tokens"), variable)] = (
            tenant
        )
    if own:
        found[_hash_of_strong(own.strip(), "FOVEAL_TOKEN")] = loaded.settings.tenant
    if len(found) < len(table) + bool(own):
        remedy = "give every tenant a token of its own"
        raise ConfigError("two tokens are the same", remedy=remedy, field="tokens")
    return found


def _hash_of_strong(token: str, variable: str) -> str:
    if len(token) >= TOKEN_LEAST and token.isascii() and token.isprintable() and " " not in token:
        return hashed(token)
    raise ConfigError(
        f"the token in `{variable}` is too weak (its value is not shown)",
        remedy=f"make it {TOKEN_LEAST} characters or more, such as the output of `openssl rand -hex 24`",
        field=variable,
    )
