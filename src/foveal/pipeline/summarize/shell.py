"""Read a shell command line: what it changes, checks or looks at, and how to show it in one line.

A line is classified by its programs and their subcommands. Only its beginning is read, with patterns that
take linear time, so a hostile line costs no more than a long one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from foveal.pipeline.shorten.outline import GAP

Kind = Literal["change", "check", "look"]

READ = 4_000
"""Characters of a command line that are read."""
SHOWN = 140
"""Characters of a command line in a log, unless several of its commands are notable."""
KEY = 200
"""Characters of a script in a command line that distinguish it from other scripts."""
STEP = 70
"""Characters of one command of a line that is too long to be shown."""
BEGINS, ENDS = 20, 20
"""Characters of a long quoted argument that a log shows: at its beginning and at its end."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HERE = re.compile(r"<<-?[ \t]*[\"']?(\w{1,40})[\"']?")
_QUOTE = re.compile(r'\\.|"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL)
_SEPARATOR = re.compile(r"(&&|\|\||;|\n|\||\$\(|(?<![&>\d])&(?![&>\d]))")
_REDIRECT = re.compile(r"(?<![0-9&<>=-])>{1,2}[ \t]{0,8}((?:[\w./~$-]|\x00\d{1,4}\x01){1,200})")
_PLUMBING = re.compile(
    r"\d?>&\d|&>[ \t]{0,8}\S{1,80}|\d>{1,2}[ \t]{0,8}\S{1,80}|>{1,2}[ \t]{0,8}/dev/null|<[ \t]{0,8}/dev/null"
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w{0,60}=\S*")
_IN_PLACE = re.compile(r"-[a-zA-Z]{0,4}i\S{0,20}|--in-place\S{0,20}")
_WRITTEN = re.compile(
    r"(?:open\(|writeFile(?:Sync)?\(|Path\()\s{0,4}[\"']([^\"'\n]{1,200})[\"']\s{0,4}"
    r"(?:,\s{0,4}(?:mode=)?[\"'][wax]|\)\.write_|,\s{0,4}[^\"'\s)])"
)
_WRITING = re.compile(r"\.write_(?:text|bytes)\(|writeFile(?:Sync)?\(|,\s{0,4}(?:mode=)?[\"'][wax]b?\+?[\"']")
_PATH = re.compile(r"(?:open|Path)\([\"']([^\"'\n]{1,200})[\"']")

_PREFIXES = word_set("sudo time nohup env exec else elif if while until then do ! ( { command builtin")
_FILTERS = word_set("head tail sort uniq wc cut tr column less more cat awk sed grep egrep rg jq xargs tee")
_SELECTS = word_set("head tail grep egrep rg awk sed jq")
"""Filters that decide which lines of an output are seen."""
_SEARCHES = word_set("grep egrep rg")
_DISCARDS = word_set("checkout restore reset stash clean rm")
"""Subcommands of git that may undo changes: which files they name matters."""
_SILENT = word_set("cd pushd popd export set source . true : sleep wait echo printf done fi [ [[ test")
_LAUNCHERS = {
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "hatch": ("run",),
    "pipenv": ("run",),
    "rye": ("run",),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx"),
    "npm": ("exec",),
    "mise": ("exec", "x"),
    "bundle": ("exec",),
    "npx": (),
    "bunx": (),
    "uvx": (),
    "xvfb-run": (),
}
"""Programs that start another one, and the subcommands that do."""
_VALUED = word_set(
    "--with --python --extra --group --project --package --filter --workspace --prefix --dir --cwd -C -c"
)
"""Options that have a value and may precede a subcommand."""

_GIT_CHANGES = word_set(
    """
    add am apply checkout cherry-pick clean clone commit init merge mv pull push rebase reset restore
    revert rm stash switch tag worktree read-tree update-index update-ref gc prune
    """
)
_GIT_READS = word_set("show diff log blame grep cat-file")
_GH_CHANGES = word_set("create edit merge comment close reopen review ready delete")
_CHANGES = word_set(
    """
    create rm mv cp mkdir touch chmod chown ln rmdir tee kill pkill killall dd unzip tar gzip gunzip truncate
    install patch rsync scp ssh-keygen createdb dropdb useradd crontab systemctl service
    apply_patch
    """
)
_CHECKS = word_set(
    """
    pytest py.test bats unittest doctest tox nox ctest golangci-lint staticcheck tsc eslint ruff mypy pyright
    flake8 pylint bandit shellcheck jest vitest mocha playwright cypress ava tap rspec rubocop phpunit
    phpstan gcc g++ cc clang clang++ rustc javac kotlinc scalac mvn mvnw gradle gradlew ninja cmake
    swiftc xcodebuild pre-commit nosetests stylelint biome
    oxlint hadolint actionlint vue-tsc
    """
)
_FORMATTERS = word_set("black isort rustfmt autopep8 yapf swiftformat shfmt gofmt goimports prettier")
_ON_REQUEST = word_set("gofmt goimports prettier shfmt")
"""Formatters that print, unless an option makes them write."""
_REWRITES = word_set("--fix --write -w --fix-only --unsafe-fixes -a --autocorrect --apply")
_REPORTS = word_set("--check --diff --check-only -c -l -d")
"""Options with which a formatter writes no file."""
_INTERPRETERS = word_set("python python3 node ruby perl php java Rscript sage bash sh zsh lua")
_RUNNERS = word_set(
    """
    npm pnpm yarn mise just task make cargo go uv poetry rake mix sbt bundle composer nx turbo lerna bazel
    bazelisk buck2 swift dotnet deno bun
    """
)
_MANAGERS = word_set(
    """
    pip pip3 brew apt apt-get yum dnf apk conda docker docker-compose podman kubectl helm terraform aws
    gcloud az launchctl gem
    """
)
_MANAGED = word_set(
    """
    install uninstall remove rm run build push pull start stop restart up down apply delete create exec
    load unload add update upgrade scale rollout set patch deploy init destroy import cp
    """
)
"""What managers of packages and services do that changes something."""
_DATABASES = word_set("psql mysql sqlite3 duckdb mariadb")
_SQL_CHANGE = re.compile(r"\b(?:insert|update|delete|create|drop|alter|truncate)\s", re.IGNORECASE)
_OUTPUT = re.compile(r"(?:/tmp/.*|.*\.(?:log|txt|out))")
"""Files to which a check writes what it prints."""
_READERS = word_set(
    """
    cat head tail less more sed grep egrep fgrep rg ag ack awk jq yq nl bat zcat strings xxd od diff cut
    sort uniq column fold tac echo printf curl wget http gh journalctl
    """
)
"""Programs that print texts of others, in which an error is none of theirs."""
_OPAQUE = word_set("curl wget http nc ssh")
_CHECK_TASK = re.compile(
    r"test|spec|lint|build|check|vet|\bci\b|compile|type|run|clippy|bench|verify|package"
)
_CHANGE_TASK = re.compile(
    r"fmt|format|fix|install|deploy|release|generate|\bgen\b|clean|migrate|publish|\badd\b|remove|\brm\b|update|"
    r"upgrade|sync|\bget\b|\bmod\b|init|start|stop|restart|apply|delete|create|push|load|unload|exec|uninstall"
)
_WRITES = word_set("POST PUT PATCH DELETE -d --data --data-raw --json -F --form -T --upload-file")
_FIELDS = word_set("-f --field --raw-field --input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line as a log shows it."""

    kind: Kind
    text: str
    """The line without what only serves its output: one line, shortened where it is long."""
    key: str
    """Equal for commands that are the same one run again: the programs with their subcommands and files."""
    files: tuple[str, ...] = ()
    """Files that it writes by redirection or edits in place."""
    checks: str = ""
    """The checks among its commands: `pytest`; empty if it runs none."""
    quotes: bool = False
    """Whether it only prints texts of others, such as `cat`: an error in them is none of the command."""
    opaque: bool = False
    """Whether it may have failed without an error in its output, such as a script or a request."""
    searched: bool = False
    """Whether only those lines of its output are seen that match a pattern."""
    removed: tuple[str, ...] = ()
    """Files that it removes."""
    discards: bool = False
    """Whether it may undo changes."""


def read_command(line: str) -> Command:
    """Classify a command line.

    >>> found = read_command("cd /srv && uv run pytest -q tests 2>&1 | tail -5")
    >>> found.kind, found.text, found.key
    ('check', 'uv run pytest -q tests | tail -5', 'pytest')
    >>> read_command("git add -A && git commit -m 'Fix it'").kind
    'change'
    """
    line = line[:READ]
    steps = list(_steps(_without_documents(line)))
    plain = [step for step in steps if not step.filters and not step.silent]
    notable = [step for step in steps if step.kind != "look"] or plain[:1] or steps[:1]
    kinds = {step.kind for step in steps}
    script = any(step.interprets for step in steps)
    writes, written = code_writes(line) if script else (False, ())
    kind: Kind = "change" if writes or "change" in kinds else "check" if "check" in kinds else "look"
    text = _shown(steps, plain or steps, notable) if steps else _cut(" ".join(line.split()), STEP)
    keys = dict.fromkeys(step.key for step in notable)
    return Command(
        kind=kind,
        text=f"{text} > {written[0]}" if written else text,
        key=" ".join(line.split())[:KEY] if script else "; ".join(keys),
        files=tuple(dict.fromkeys((*(file for step in steps for file in step.files), *written))),
        checks="; ".join(dict.fromkeys(step.key for step in steps if step.checks)),
        quotes=kind == "look" and bool(steps) and all(step.quotes for step in plain),
        opaque=script or any(step.opaque for step in notable),
        searched=any(step.filters and step.words[0] in _SEARCHES for step in steps),
        removed=tuple(file for step in steps for file in step.removed),
        discards=any(step.discards for step in steps),
    )


def code_writes(code: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a script writes files, and which, as far as it names them.

    >>> code_writes("p = Path('a.py')\\np.write_text(p.read_text().replace('x', 'y'))")
    (True, ('a.py',))
    """
    code = code[:READ]
    if not _WRITING.search(code):
        return False, ()
    files = dict.fromkeys(_WRITTEN.findall(code))
    named = dict.fromkeys(_PATH.findall(code))
    return True, tuple(files) if files or len(named) > 1 else tuple(named)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One command of a line."""

    words: tuple[str, ...]
    text: str
    joint: str
    """What separates it from the step before."""
    kind: Kind
    key: str
    files: tuple[str, ...]
    checks: bool

    @property
    def filters(self) -> bool:
        """Whether it only shows a part of what another step printed."""
        piped = self.words[0] in _FILTERS or self.words[1:3] == ("-m", "json.tool")
        return self.joint == "|" and piped and not self.files

    @property
    def silent(self) -> bool:
        return self.words[0] in _SILENT and not self.files

    @property
    def interprets(self) -> bool:
        """Whether it runs a script that is written in the line itself."""
        return self.kind == "look" and self.words[0].rsplit("/", 1)[-1] in _INTERPRETERS

    @property
    def opaque(self) -> bool:
        """Whether its output may hide that it failed: a request, a script, a program of the project."""
        program = _program(_launched(self.words))
        return program in _OPAQUE or program in _INTERPRETERS or program.startswith("./")

    @property
    def discards(self) -> bool:
        """Whether it may undo changes, so that it matters which files it names."""
        return self.words[0] == "rm" or (self.words[0] == "git" and not _DISCARDS.isdisjoint(self.words[1:4]))

    @property
    def removed(self) -> tuple[str, ...]:
        removes = self.words[0] == "rm" or self.words[:2] == ("git", "rm")
        names = self.words[1:] if removes else ()
        return tuple(name for name in names if name[0] not in "-\"'" and "." in _base(name)[1:])

    @property
    def quotes(self) -> bool:
        program = self.words[0].rsplit("/", 1)[-1]
        return program in _READERS or (program == "git" and bool(_GIT_READS & {*self.words[1:4]}))


def _without_documents(line: str) -> str:
    """The line without comments and here-documents.

    A here-document that is an argument, such as a commit message, is its first line.
    """
    kept: list[str] = []
    until, argument = "", False
    for row in line.replace("\\\n", " ").split("\n"):
        if until:
            if row.strip() == until:
                until = ""
            elif argument and row.strip():
                kept[-1] += row.strip().replace('"', "'")
                argument = False
            continue
        here = _HERE.search(row)
        command = row
        if here:
            before, until = row[: here.start()].rstrip(), here[1]
            argument = before.endswith("$(cat")
            command = before.removesuffix("$(cat") + row[here.end() :]
        if kept and command.lstrip().startswith(")"):
            kept[-1] += command.lstrip().removeprefix(")")
        elif not command.lstrip().startswith("#"):
            kept.append(command)
    return "\n".join(kept)


def _steps(line: str) -> Iterator[_Step]:
    quotes: list[str] = []

    def masked(found: re.Match[str]) -> str:
        if found[0][0] == "\\":
            return " " if found[0] == "\\;" else found[0]  # `\;` ends an action of `find`
        quotes.append(found[0])
        return f"\x00{len(quotes) - 1}\x01"

    parts = _SEPARATOR.split(_QUOTE.sub(masked, line.replace("\x00", " ").replace("\x01", " ")))
    for at in range(0, len(parts), 2):
        files = [_restored(file, quotes).strip("\"'") for file in _REDIRECT.findall(parts[at])]
        files = [file for file in files if file and not file.startswith(("/dev/", "$"))]
        bare = _REDIRECT.sub(" ", _PLUMBING.sub(" ", parts[at])).strip(" ()")
        words = [_restored(word, quotes) for word in _command_words(bare.split())]
        if words:
            yield _step(words, files, parts[at - 1].strip() if at else "")


def _step(words: Sequence[str], files: Sequence[str], joint: str) -> _Step:
    kind, key = _classified(_launched(words))
    in_place = _edits_in_place(words)
    if kind == "check":
        files = [file for file in files if not _OUTPUT.fullmatch(file)]
    elif words[0] in ("tee", "create"):
        files = [
            *files,
            *(word for word in words[1:] if word[0] not in "-\"'" and not _OUTPUT.fullmatch(word)),
        ]
    target = f" > {files[0]}" if files and words[0] not in ("tee", "create") else ""
    return _Step(
        words=tuple(words),
        text=_shown_words(words) + target,
        joint=joint,
        kind="change" if files or in_place else kind,
        key=key + target,
        files=(*files, *(_named_files(words) if in_place else ())),
        checks=kind == "check" or _program(_launched(words)) in _CHECKS,
    )


def _restored(word: str, quotes: Sequence[str]) -> str:
    parts = word.split("\x00")
    for at in range(1, len(parts)):
        number, _, rest = parts[at].partition("\x01")
        parts[at] = quotes[int(number)] + rest
    return "".join(parts)


def _command_words(words: list[str]) -> list[str]:
    """The words from the program on: without assignments, `sudo` and the like."""
    at = 0
    while at < len(words) and (words[at] in _PREFIXES or _ASSIGNMENT.fullmatch(words[at])):
        at += 1
    if at < len(words) and words[at] == "timeout":
        at += 1
        while at < len(words) and words[at].startswith("-"):
            at += 2 if words[at] in ("-k", "-s") else 1
        at += 1  # the time
    return words[at:] if at < len(words) and not words[at].startswith("#") else []


def _launched(words: Sequence[str]) -> Sequence[str]:
    """The command that a launcher starts: `pytest -q` of `uv run pytest -q` and of `python -m pytest -q`."""
    if _program(words) in ("python", "python3") and len(words) > 2 and words[1] == "-m":
        return words[2:]
    if list(words[:2]) == ["uv", "pip"]:
        return words[1:]
    subcommands = _LAUNCHERS.get(words[0])
    if subcommands is None or (subcommands and (len(words) < 2 or words[1] not in subcommands)):
        return words
    at = 2 if subcommands else 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _VALUED or words[at] == "-p" else 1
    return _launched(words[at:]) if at < len(words) else words


def _program(words: Sequence[str]) -> str:
    """The program's name; of a script of the project its path: `./run.sh`."""
    base = words[0].rsplit("/", 1)[-1] or words[0]
    return words[0] if words[0].startswith("./") and base not in _CHECKS else base


def _operands(words: Sequence[str]) -> list[str]:
    """The words that are neither options nor the values of options."""
    return [word for before, word in pairwise(words) if not word.startswith("-") and before not in _VALUED]


def _shown_words(words: Sequence[str]) -> str:
    """A command; of what it echoes the first argument, since further ones may look like commands."""
    quoted = next((at for at, word in enumerate(words) if word[0] in "\"'"), len(words))
    if words[0] in ("echo", "printf") and quoted + 1 < len(words):
        words = (*words[: quoted + 1], "…")
    return " ".join(map(_shown_word, words))


def _shown_word(word: str) -> str:
    """A word; of a long quoted one the beginning and the end, cut at words where it has some."""
    word = " ".join(word.split())
    if len(word) <= BEGINS + ENDS or word[0] not in "\"'":
        return word
    cut, end = word.rfind(" ", BEGINS // 2, BEGINS + 1), word[-ENDS:]
    return f"{word[: BEGINS if cut < 0 else cut]}…{end[end.find(' ', 0, ENDS // 2) + 1 :]}"


def _classified(words: Sequence[str]) -> tuple[Kind, str]:
    """What a command does, and which command it is."""
    program = _program(words)
    operands = _operands(words)
    special = {"git": _git, "gh": _gh, "find": _find, "curl": _web, "wget": _web, "http": _web}.get(program)
    if special:
        return special(words, operands)
    if program in _RUNNERS:
        return _task(program, operands)
    if program in _INTERPRETERS:
        return _interpreted(program, operands)
    if program in _CHECKS or program in _FORMATTERS:
        return _checked(program, words, operands)
    if program in _MANAGERS:
        return ("change" if _MANAGED & {*operands[:2]} else "look"), " ".join((program, *operands[:1]))
    changes = program in _CHANGES or (program in _DATABASES and _SQL_CHANGE.search(" ".join(words[1:])))
    kind: Kind = "change" if changes else "check" if program.startswith("./") else "look"
    last = operands[-1] if operands and kind != "check" else ""
    return kind, f"{program} {_base(last) if kind == 'change' else last}".strip()


def _find(words: Sequence[str], operands: Sequence[str]) -> tuple[Kind, str]:
    acts = "-delete" in words or ("-exec" in words and {*words} & {"rm", "mv", "cp", "chmod", "sed"})
    return ("change" if acts else "look"), " ".join(("find", *operands[:1]))


def _web(words: Sequence[str], operands: Sequence[str]) -> tuple[Kind, str]:
    if _WRITES & {*words}:
        return "change", " ".join(words)[:KEY]
    address = [word for word in operands if "://" in word] or operands[-1:]
    return "look", " ".join((_program(words), *address[:1]))


def _checked(program: str, words: Sequence[str], operands: Sequence[str]) -> tuple[Kind, str]:
    """A check, unless it rewrites files; a formatter rewrites them unless it only reports."""
    flags = {*words[1:]}
    formats = program in _FORMATTERS or (program == "ruff" and operands[:1] == ["format"])
    if not formats:
        return ("change" if flags & _REWRITES else "check"), program
    writes = flags & _REWRITES if program in _ON_REQUEST else not flags & _REPORTS
    return ("change" if writes else "check"), f"{program} format" if program == "ruff" else program


def _git(words: Sequence[str], operands: Sequence[str]) -> tuple[Kind, str]:
    sub, flags = (operands[0] if operands else ""), {*words}
    changes = sub in _GIT_CHANGES
    if sub in ("stash", "worktree", "tag"):
        changes = not flags & {"list", "show", "-l", "--list"} and (sub != "tag" or len(operands) > 1)
    elif sub == "branch":
        changes = bool(flags & {"-d", "-D", "-m", "-M"})
    elif sub == "config":
        changes = len(operands) > 2
    return ("change" if changes else "look"), f"git {sub}".strip()


def _gh(words: Sequence[str], operands: Sequence[str]) -> tuple[Kind, str]:
    writes = _GH_CHANGES & {*operands[1:2]}
    if operands[:1] == ["api"]:
        writes = (_WRITES | _FIELDS) & {*words}
    return ("change" if writes else "look"), " ".join(("gh", *operands[:2]))


def _task(program: str, operands: Sequence[str]) -> tuple[Kind, str]:
    """The task of a runner: `npm run lint`, `go test`, `make install`."""
    runs = operands[:1] in (["run"], ["exec"]) and len(operands) > 1
    task = operands[1] if runs else operands[0] if operands else ""
    named = " ".join(dict.fromkeys((program, *operands[:1], task))).strip()
    if _CHANGE_TASK.search(task) and not _CHECK_TASK.search(task):
        return "change", named
    checks = _CHECK_TASK.search(task) or program in ("make", "cargo") or operands[:1] == ["run"]
    return ("check" if checks else "look"), named


def _interpreted(program: str, operands: Sequence[str]) -> tuple[Kind, str]:
    script = next((_base(word) for word in operands if "." in word and word[0] not in "\"'"), "")
    return ("check", f"{program} {script}") if script else ("look", program)


def _edits_in_place(words: Sequence[str]) -> bool:
    """Whether an option makes a command rewrite the files that it names: `sed -i`, `gofmt -w`."""
    if _program(words) in ("sed", "perl", "clang-format"):
        return any(map(_IN_PLACE.fullmatch, words[1:]))
    return _program(words) in _ON_REQUEST and bool(_REWRITES & {*words[1:]})


def _named_files(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for word in words[1:] if word[0] not in "\"'-" and ("." in word or "/" in word))[:4]


def _base(path: str) -> str:
    return path.strip("\"'").rstrip("/").rsplit("/", 1)[-1]


def _shown(steps: Sequence[_Step], plain: Sequence[_Step], notable: Sequence[_Step]) -> str:
    """The commands in one line: with what selects from their output, or its name if that is long, else
    without it, else the notable ones, each cut at a word."""
    selected = [step for step in steps if step in plain or (step.filters and step.words[0] in _SELECTS)]
    named = [step.text if step in plain else f"{step.words[0]} {GAP}" for step in selected]
    for each, texts in (
        (selected, [step.text for step in selected]),
        (selected, named),
        (plain, [step.text for step in plain]),
    ):
        if len(text := _joined(each, texts)) <= SHOWN:
            return text
    texts = [_cut(step.text, SHOWN if step.discards else STEP, last=True) for step in notable]
    return _cut(_joined(notable, texts), 2 * SHOWN)


def _joined(steps: Sequence[_Step], texts: Sequence[str]) -> str:
    found = ""
    for step, text in zip(steps, texts, strict=True):
        joint = step.joint if step.joint in ("&&", "||", "|", "&") else ";"
        found = f"{found}{'' if joint == ';' else ' '}{joint} {text}" if found else text
    return found


def _cut(text: str, most: int, *, last: bool = False) -> str:
    """At most `most` characters, cut at a word, with an ellipsis; with the last word, unless that is long."""
    if len(text) <= most:
        return text
    word = text[text.rfind(" ") :] if last else ""
    word = word if len(word) <= most // 2 else ""
    room = most - len(word)
    end = text.rfind(" ", room // 2, room)
    return text[: end if end > 0 else room].rstrip() + " …" + word
