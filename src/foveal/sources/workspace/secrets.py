"""Recognize files that hold secrets, by their names and by what their texts say.

Names are compared without case, and without the endings that editors append to copies. An example of a
secret file (`.env.example`) and a public key (`id_rsa.pub`) are not secrets. Where a name is not enough,
because the file has several or is of a kind that often holds passwords, its settings decide.
"""

from __future__ import annotations

import re
from functools import lru_cache

_FOLDERS = frozenset(
    (".aws", ".azure", ".docker", ".gnupg", ".kube", ".password-store", ".ssh", "legacy_credentials")
)
_COPY = re.compile(r"(?:~|\.(?:bak|backup|copy|old|orig|save|swo|swp|tmp|\d{1,3}))$")
_EXAMPLE = re.compile(
    r"\.?env(?:[.-].*)?[.-](?:example|sample|template|dist|defaults?|schema)|(?:example|sample|template)\.env"
)
_DATA = r"\.(?:json|ya?ml|toml|ini|env|txt|xml|csv|properties|conf|cfg|config|enc|tfvars)"
_NAMES = re.compile(
    "|".join(
        (
            r"\.env(?:rc|[.-].*)?",
            r".+\.env",
            r"id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:_sk)?",
            r".+\.(?:pem|key|p8|p12|pfx|ppk|jks|keystore|keytab|kdbx?|keyring|ovpn|kubeconfig)",
            r"[._]netrc|\.npmrc|\.pypirc|\.pgpass|\.my\.cnf|\.htpasswd|\.dockercfg|\.dockerconfigjson|\.s3cfg|\.boto",
            r"(?:access_tokens|credentials)\.db",
            r"\.git-credentials|\.vault[_-]pass(?:word)?|\.terraformrc|terraform\.rc|wallet\.dat|kubeconfig",
            r"(?:.*[._-])?(?:keystore|key|signing)\.properties|auth\.json|\.dev\.vars|\.?rclone\.conf",
            r"\.authinfo|\.mylogin\.cnf|(?>.*?firebase[_-]adminsdk).*\.json",
            r"\.[\w.-]*(?:token|_history)",
            rf"(?:.*[._-])?credentials?(?:{_DATA})?",
            rf"(?:.*[._-])?secrets?(?:{_DATA})?",
            r"secrets\.(?:py|rb|php|js|mjs|cjs|ts|sh|ps1)",
            r"client[_-]secrets?.*\.json|(?>.*?service[_-]?account).*\.json|local\.settings\.json",
            r"(?>.+?\.tfstate(?=\.|$))(?:\..+)?|terraform\.tfstate.*|.+\.tfvars(?:\.json)?",
        )
    )
)
_KEY_BLOCK = re.compile(
    r"^(?:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY|PuTTY-User-Key-File-)"
    r"|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?![\"'`])",
    re.MULTILINE,
)
"""A key anywhere; a title that is quoted alone has no key behind it."""
_MAY_HOLD_PASSWORDS = re.compile(r".+\.(?:properties|ini|cfg)|\.yarnrc(?:\.yml)?|pip\.conf")
_SETTING = re.compile(
    r"(?:export[ \t]+|set[ \t]+)?[\"']?([\w./@-]{1,200}(?::_?[\w-]{1,80})?)[\"']?[ \t]*[=:](.*)"
)
_SECRET_SETTING = re.compile(
    r"passw|passphrase|pwd|secret|token|api[_.-]?key|access[_.-]?key|private|credential|auth$|client-key-data"
)
_OTHER_SECRET = re.compile(
    r"(?:machine|login|password)[ \t]+\S|https?://[^\s/@:]+:[^\s/@]+@|[^\s:]+:\$\w+\$\S"
)
_PUNCTUATION = str.maketrans("{}[],", "\n\n\n\n\n")
_KEY_FIELD = re.compile(r'"private_key"\s{0,9}:\s{0,9}"-----BEGIN')


def secret_folder(name: str) -> bool:
    """Whether a folder of that name holds credentials."""
    return name.casefold() in _FOLDERS


@lru_cache(maxsize=1 << 15)
def secret_file(name: str) -> bool:
    """Whether a file of that name usually holds a password, a token or a private key.

    >>> [secret_file(name) for name in (".ENV.local", ".env.example", "id_rsa", "id_rsa.pub", "token.py")]
    [True, False, True, False, False]
    """
    plain = name.casefold().rstrip(". ")
    return any(
        _NAMES.fullmatch(spelling) and not _EXAMPLE.fullmatch(spelling)
        for spelling in {plain, _COPY.sub("", plain)}
    )


def secret_text(text: str) -> bool:
    """Whether a text has a private key in it."""
    return bool(_KEY_BLOCK.search(text) or (text.lstrip()[:1] == "{" and _KEY_FIELD.search(text)))


def may_hold_passwords(name: str) -> bool:
    """Whether a file of that name is often a secret, depending on what is set in it."""
    return _MAY_HOLD_PASSWORDS.fullmatch(name.casefold()) is not None


def secret_settings(text: str) -> bool:
    """Whether a text is a list of settings, of variables or of a password or the like.

    >>> [secret_settings(text) for text in ("PORT=80", "port=80", "port=80\\ndb.password=x", "Buy milk.")]
    [True, False, True, False]
    """
    lines = (text.translate(_PUNCTUATION) if text.lstrip()[:1] == "{" else text).splitlines()
    stated = [line.strip() for line in lines if line.strip() and line.strip()[0] not in "#;!["]
    if any(_OTHER_SECRET.match(line) for line in stated):
        return True
    found = [_SETTING.fullmatch(line) for line in stated]
    settings = [(each[1], each[2].strip(" \t\"'")) for each in found if each]
    if not settings or len(settings) < len(stated):
        return False
    return all(name.isupper() for name, _ in settings) or any(
        value and not value.startswith("${") and _SECRET_SETTING.search(name.casefold())
        for name, value in settings
    )
