"""Which bytes are a text, how many of them are read, and which texts and names are secrets."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fenced import Fenced, fenced, within
from foveal.sources.workspace.safe_open import decode
from foveal.sources.workspace.secrets import secret_file, secret_text

LIMIT = 1_000
NO_TEXT = "is no text: neither UTF-8 nor marked as UTF-16, or with zero bytes"
BY_NAME = "may hold a secret: its name says so"
WORDS = ("plain", "café", "Привет, мир", "こんにちは", "👁 fovea", "tabs\tand\r\nlines\n")
OTHERS = ("latin-1", "cp1252", "cp437", "koi8-r", "cp1251", "shift_jis", "euc-jp", "gb18030", "big5")
FOREIGN = [(code, word) for code in OTHERS for word in WORDS if not word.encode(code, "ignore").isascii()]
BINARY = {
    "an image": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
    "a program": b"\x7fELF\x02\x01\x01\x00",
    "an archive": gzip.compress(b"words"),
    "a zero at the end": b"words\x00",
    "half a letter": "café".encode()[:-1],
    "an overlong letter": b"\xc0\xaf",
    "half a pair": b"\xed\xa0\x80",
    "a letter beyond the last": b"\xf4\x90\x80\x80",
    "half of UTF-16": b"\xff\xfea\x00b",
    "a lone half of a pair": b"\xff\xfe\x00\xd8",
    "UTF-32": "words".encode("utf-32"),
    "UTF-16 that does not say so": "words".encode("utf-16-le"),
    "a mark, then a zero": b"\xef\xbb\xbfa\x00b",
}
SECRET_NAMES = [
    ".env",
    ".ENV",
    ".env.local",
    ".env.production",
    ".env-staging",
    "prod.env",
    ".envrc",
    "id_rsa",
    "ID_RSA",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "server.pem",
    "server.key",
    "Server.KEY",
    "cert.p12",
    "cert.pfx",
    "AuthKey.p8",
    "putty.ppk",
    "release.jks",
    "release.keystore",
    "user.keytab",
    "passwords.kdbx",
    "passwords.kdb",
    "office.ovpn",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    ".dockerconfigjson",
    ".s3cfg",
    ".boto",
    ".git-credentials",
    ".vault-token",
    ".vault_pass",
    ".terraformrc",
    "terraform.rc",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "prod.tfstate",
    "prod.tfvars",
    "prod.auto.tfvars",
    "credentials",
    "credentials.json",
    "Credentials.csv",
    "aws-credentials.ini",
    "application_default_credentials.json",
    "client_secret_123.json",
    "service-account.json",
    "my-service_account-key.json",
    "secrets.json",
    "secrets.yaml",
    "secrets.toml",
    "secrets.env",
    "secrets.py",
    "secret.yml",
    "app-secrets.yaml",
    "local.settings.json",
    "keystore.properties",
    "release-signing.properties",
    "auth.json",
    ".dev.vars",
    ".authinfo",
    "app-firebase-adminsdk-1.json",
    "wallet.dat",
    "kubeconfig",
    "prod.kubeconfig",
    ".bash_history",
    ".python_history",
    ".env~",
    ".env.bak",
    "id_rsa.bak",
    "access_tokens.db",
    "credentials.db",
    "login.keyring",
    "id_rsa.old",
    "server.key.orig",
    ".netrc.swp",
    "secrets.json.1",
    ".env.",
    "id_rsa~",
]
HARMLESS_NAMES = [
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.local.example",
    "example.env",
    "env.py",
    "environment.yml",
    "id_rsa.pub",
    "keys.py",
    "key.py",
    "monkey.py",
    "tokens.py",
    "token.go",
    "secret.py",
    "secretary.json",
    "credentials_test.go",
    "credentials.py",
    "README.md",
    "keyboard.key.ts",
    "pem.go",
    ".gitignore",
    ".npmignore",
    "main.tf",
    "variables.tf",
    "settings.json",
    "gradle.properties",
    "author.json",
    "history.md",
    "accounts.json",
    "service.json",
    "package.json",
    "history",
    "gcloud/client.py",
]
SECRET_FOLDERS = (".aws", ".ssh", ".gnupg", ".kube", ".docker", ".azure", ".SSH", ".password-store")


@pytest.fixture
def place(tmp_path: Path) -> Fenced:
    return fenced(tmp_path, file_bytes=LIMIT)


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"])
def test_unicode_is_read_to_the_letter(place: Fenced, words: str, encoding: str) -> None:
    mark = "\ufeff" if encoding[6:] in ("-be", "-le") else ""
    place.put("a.txt", (mark + words).encode(encoding))
    assert place.workspace().text("a.txt") == words


@pytest.mark.parametrize(("encoding", "words"), FOREIGN)
def test_no_other_encoding_is_guessed(place: Fenced, words: str, encoding: str) -> None:
    place.put("a.txt", words.encode(encoding, errors="ignore"))
    assert place.why("a.txt") == NO_TEXT


@pytest.mark.parametrize("content", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize("name", ["a.txt", "b.py", "deep/er/c"])
def test_what_is_no_text_is_refused_whatever_its_name(place: Fenced, content: bytes, name: str) -> None:
    place.put(name, content)
    assert place.why(name) == NO_TEXT


@given(st.binary(max_size=60))
def test_a_text_gives_its_bytes_back(content: bytes) -> None:
    text = decode(content)
    if text is not None and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert text.encode() == content.removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize("size", [0, 1, LIMIT - 1, LIMIT])
def test_files_up_to_the_limit_are_read_whole(place: Fenced, size: int) -> None:
    place.put("a.txt", "x" * size)
    assert place.workspace().text("a.txt") == "x" * size


@pytest.mark.parametrize("size", [LIMIT + 1, LIMIT * 10, 10**6, 10**10])
@pytest.mark.parametrize("path", ["a.txt", "deep/er/b.py"])
def test_larger_files_are_refused_with_their_size(place: Fenced, path: str, size: int) -> None:
    with place.put(path).open("r+b") as file:
        file.truncate(size)  # a hole: no disk is filled
    assert place.why(path) == f"has {size:,} bytes; at most 1,000 are read of a file"
    assert place.workspace().scan() == []


def test_a_file_that_grows_while_it_is_read_ends_at_the_limit(place: Fenced) -> None:
    file = place.put("growing.txt", "")
    stop = threading.Event()

    def grow() -> None:
        while not stop.is_set():
            with file.open("ab") as end:
                end.write(b"x" * 50)
            if file.stat().st_size > 5 * LIMIT:
                file.write_bytes(b"")

    thread = threading.Thread(target=grow)
    thread.start()
    texts = within(lambda: [place.workspace().text("growing.txt") for _ in range(300)])
    stop.set()
    thread.join()
    assert max(len(text or "") for text in texts) <= LIMIT


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_secrets_are_refused_by_name(place: Fenced, name: str) -> None:
    place.put(f"deep/{name}", "token=1")
    assert place.why(f"deep/{name}", ignored=True) == BY_NAME
    assert place.workspace().scan() == []


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_names_that_only_look_like_secrets_are_read(place: Fenced, name: str) -> None:
    place.put(name)
    assert place.workspace().text(name) == "inside\n"
    assert [file.path for file in place.workspace().scan()] == [name]


@pytest.mark.parametrize("folder", SECRET_FOLDERS)
@pytest.mark.parametrize("path", ["{}/config", "home/{}/known_hosts", "{}/deep/er/notes.txt"])
def test_nothing_in_a_folder_of_secrets_is_read(place: Fenced, folder: str, path: str) -> None:
    place.put(path.format(folder))
    assert place.why(path.format(folder), ignored=True) == BY_NAME
    assert place.workspace().scan() == []


def test_no_link_gives_a_secret_another_name(place: Fenced) -> None:
    place.put(".env")
    place.link("notes.txt", ".env")
    assert place.why("notes.txt") == BY_NAME


SECRET_SETTINGS = [
    "DATABASE_URL=postgres://db\nPORT=80\n",
    "# ours\nexport API='x'\n",
    "storeFile=release.jks\nstorePassword=hunter2\n",
    "machine api.io login me password hunter2\n",
    "https://me:hunter2@github.com\n",
    "//registry.npmjs.org/:_authToken=npm_hunter2\n",
    "me:$apr1$x$hunter2\n",
    "[default]\naws_access_key_id = A\naws_secret_access_key = hunter2\n",
    '{"auths": {"a.io": {"auth": "aHVudGVyMg=="}}}',
    "users:\n- name: me\n  client-key-data: aHVudGVyMg==\n".replace("- ", ""),
]
ORDINARY = [
    "Buy milk, and change the password.\n",
    "import os\nTOKEN = os.environ['TOKEN']\nprint(TOKEN)\n",
    "[tool.ruff]\nline-length = 110\n",
    '{"name": "app", "version": "1.0"}',
    "org.gradle.jvmargs=-Xmx2g\ndb.password=${DB_PASSWORD}\n",
    "",
]


def hard_link(place: Fenced, name: str, content: str) -> None:
    (place.outside / "original").write_text(content, encoding="utf-8")
    os.link(place.outside / "original", place.root / name)


@pytest.mark.parametrize("content", SECRET_SETTINGS)
def test_a_file_with_other_names_is_not_read_where_its_settings_may_be_secret(
    place: Fenced, content: str
) -> None:
    hard_link(place, "notes.txt", content)
    assert place.why("notes.txt").startswith("may hold a secret: it has other names")


@pytest.mark.parametrize("content", ORDINARY)
def test_any_other_file_with_several_names_is_read(place: Fenced, content: str) -> None:
    hard_link(place, "notes.txt", content)
    assert place.workspace().text("notes.txt") == content


@pytest.mark.parametrize("content", SECRET_SETTINGS)
def test_a_file_with_one_name_is_read_whatever_is_set_in_it(place: Fenced, content: str) -> None:
    place.put("notes.txt", content)
    assert place.workspace().text("notes.txt") == content


def test_properties_are_read_unless_they_hold_a_password(place: Fenced) -> None:
    place.put("gradle.properties", "org.gradle.parallel=true\n")
    assert place.workspace().text("gradle.properties")
    place.put("gradle.properties", "org.gradle.parallel=true\nnexusPassword=hunter2\n")
    assert place.why("gradle.properties") == "holds a password or the like"


@pytest.mark.parametrize("name", ["config.ini", "app.cfg"])
def test_ini_files_are_read_unless_they_hold_a_password(place: Fenced, name: str) -> None:
    place.put(name, "[app]\nport = 80\n")
    assert place.workspace().text(name)
    place.put(name, "[app]\naws_secret_access_key = hunter2\n")
    assert place.why(name) == "holds a password or the like"


@pytest.mark.parametrize("before", ["hello ", "  key: |\n    ", '{"a": "b"}\nKEY = "'])
def test_private_keys_are_found_anywhere_in_a_file(place: Fenced, before: str) -> None:
    place.put("notes.txt", f"{before}-----BEGIN RSA PRIVATE KEY-----\nMIIE\n")
    assert place.why("notes.txt") == "holds a private key"


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize(
    "before", ["", "\n\n", "Bag Attributes\n  name: x\n", "-----BEGIN CERTIFICATE-----\nMII\n"]
)
def test_private_keys_are_refused_by_what_they_say(place: Fenced, kind: str, before: str) -> None:
    place.put("notes.txt", f"{before}-----BEGIN {kind}PRIVATE KEY-----\nMIIE\n")
    assert place.why("notes.txt") == "holds a private key"


def test_keys_of_other_programs_are_refused_as_well() -> None:
    assert secret_text("PuTTY-User-Key-File-3: ssh-ed25519")
    assert secret_text("x hello\n" * 2_000 + "-----BEGIN RSA PRIVATE KEY-----")
    assert secret_text("-----BEGIN PGP PRIVATE KEY BLOCK-----")
    assert secret_text('{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\n"}')


def test_code_that_speaks_of_keys_is_no_key() -> None:
    assert not secret_text('HEAD = "-----BEGIN PRIVATE KEY-----"\n')
    assert not secret_text("-----BEGIN PUBLIC KEY-----\n")


@given(st.text(max_size=300))
def test_any_name_and_any_text_is_judged(text: str) -> None:
    assert secret_file(text) in (True, False)
    assert secret_text(text) in (True, False)


def test_what_git_keeps_for_itself_is_refused(place: Fenced) -> None:
    place.put(".git/config", "url = https://user:password@example.com")
    assert place.why(".git/config", ignored=True) == "belongs to git itself"
