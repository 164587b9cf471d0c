"""What a command line does, and how a log shows it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foveal.pipeline.summarize.shell import code_writes, read_command

COMMIT = """git add -A && git commit -m "$(cat <<'EOF'
Fix the race in rotate

Two tabs refreshed at once.
EOF
)" && git push"""
LOOP = """for file in a.go \\
  b.go; do
  # Remove the import; then do the rest
  if ! grep -q "paths" "$file"; then
    sed -i '' '/paths"/d' "$file"
  fi
done"""
SCRIPT = """python3 - <<'EOF'
from pathlib import Path
p = Path('src/auth.py')
p.write_text(p.read_text().replace('60', '90'))
EOF"""


@pytest.mark.parametrize(
    "line",
    [
        "rm -rf build",
        "mkdir -p src/new",
        "git commit -m 'Fix it'",
        "git -C /srv/app push origin main",
        "git stash",
        "pip install -e '.[dev]'",
        "uv sync --extra dev",
        "uv pip install httpx",
        "npm install",
        "docker compose up -d",
        "kubectl apply -f x.yaml",
        "curl -s -X POST https://example.org/v1/x -d '{}'",
        "gh pr create --title A",
        "gh api repos/a/b/issues -f title=A",
        "echo '*.log' >> .gitignore",
        "cat > notes.md <<'EOF'\nls > x\nEOF",
        "sed -i 's/a/b/' src/a.py",
        "gofmt -s -w a.go",
        "black src",
        "ruff format .",
        "ruff check --fix .",
        "find . -name '*.pyc' -delete",
        "find . -name '*.pyc' -exec rm {} \\;",
        "psql -c 'UPDATE users SET a = 1'",
        "cd /srv && sudo systemctl restart app",
        COMMIT,
        LOOP,
        SCRIPT,
    ],
)
def test_a_command_that_changes_something_is_a_change(line: str) -> None:
    assert read_command(line).kind == "change"


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ("pytest -q tests", "pytest"),
        ("cd /srv && uv run --extra dev pytest -q 2>&1 | tail -5", "pytest"),
        ("python -m pytest tests/test_a.py::test_b", "pytest"),
        ("python3 -m unittest discover", "unittest"),
        ("poetry run mypy src", "mypy"),
        ("npx tsc --noEmit", "tsc"),
        ("bundle exec rspec spec/a_spec.rb", "rspec"),
        ("timeout -k 5 60 cargo test --all", "cargo test"),
        ("CI=1 pnpm --filter web test", "pnpm test"),
        ("mise exec -- go test ./...", "go test"),
        ("npm run lint", "npm run lint"),
        ("make -j4 test", "make test"),
        ("black --check .", "black"),
        ("pytest > out.txt 2>&1; tail -3 out.txt", "pytest"),
        ("./gradlew test", "gradlew"),
        ("./run.sh --fast", "./run.sh"),
        ("swift test", "swift test"),
    ],
)
def test_a_check_is_known_whatever_starts_it(line: str, check: str) -> None:
    found = read_command(line)
    assert (found.kind, found.checks, found.key) == ("check", check, check)


def test_a_check_after_a_change_is_known_too() -> None:
    found = read_command("ruff format . && pytest -q")
    assert found.kind == "change"
    assert "pytest" in found.checks


@pytest.mark.parametrize(
    "line",
    [
        "ls -la",
        "git status",
        "git stash list",
        "git log --oneline | head",
        "cat a.py | python3 -m json.tool",
        "kubectl get pods",
        "gh pr view 3",
        "sed -n '1,20p' a.py",
        "python3 -c 'print(1)'",
        "grep -rn 'rm -rf; then do' src 2>/dev/null",
        "# rm -rf /\nls",
        "psql -c 'select 1'",
        "",
        "   ",
        "# nothing",
    ],
)
def test_a_command_that_only_reads_is_a_look(line: str) -> None:
    assert read_command(line).kind == "look"


@pytest.mark.parametrize(
    "line", ["cat a.log", "cd x && tail -5 a.log | grep E", "git show HEAD", "sed -n 1p a"]
)
def test_a_command_that_prints_what_others_wrote_quotes(line: str) -> None:
    assert read_command(line).quotes


@pytest.mark.parametrize("line", ["ls", "pytest", "python -c 'x()'", "cat a > b", "cat a && make"])
def test_a_command_that_does_more_does_not(line: str) -> None:
    assert not read_command(line).quotes


def test_a_line_is_shown_without_what_only_serves_its_output() -> None:
    assert read_command("cd /srv/app && pytest -q tests 2>&1 | sort").text == "pytest -q tests"
    assert read_command("set -e; export A=1; ls 2>/dev/null").text == "ls"


def test_what_selects_from_an_output_is_shown_where_there_is_room() -> None:
    branches = read_command("git branch -a | grep -v 'entire/' | sort")
    assert branches.text == "git branch -a | grep -v 'entire/'"
    long = f"go test {' '.join(f'./package_{n}' for n in range(10))} | grep -v {'x' * 30}"
    assert read_command(long).text.endswith("./package_9 | grep …")
    assert "grep" not in read_command(long.replace("package", "a_long_package_name")).text


def test_a_command_is_searched_if_only_matching_lines_of_its_output_are_seen() -> None:
    assert read_command("go test ./... 2>&1 | grep -A 20 FAIL").searched
    assert not read_command("go test ./... 2>&1 | tail -20").searched
    assert not read_command("grep -rn FAIL src").searched


def test_the_files_of_a_command_that_undoes_changes_are_shown() -> None:
    files = " ".join(f"cmd/entire/cli/strategy/file_{n}.go" for n in range(3))
    found = read_command(f"git checkout -- {files} && git status && ls {'very/long/folder/name/' * 5}")
    assert found.discards
    assert files in found.text


def test_a_commit_is_shown_with_the_first_line_of_its_message() -> None:
    assert read_command(COMMIT).text == 'git add -A && git commit -m "Fix the race in rotate" && git push'


def test_of_a_long_argument_the_beginning_and_the_end_are_shown() -> None:
    line = 'curl -X POST "http://web.chal.csaw.io:8000/cgi-bin/file.pl?ls%20%2e|"'
    assert read_command(line).text == 'curl -X POST "http://web.chal.csa…n/file.pl?ls%20%2e|"'
    line = 'git commit -m "fix: make the registry accept the agents that have no type of their own"'
    assert read_command(line).text == 'git commit -m "fix: make the…type of their own"'


def test_what_is_echoed_into_a_file_is_not_shown_as_a_command() -> None:
    found = read_command("echo -e 'main(){}' > chall.c gcc chall.c -o chall ./chall")
    assert found.text == "echo -e 'main(){}' … > chall.c"


def test_of_a_long_command_the_last_word_is_shown() -> None:
    line = f"cp {' '.join(f'src/module_{n}/implementation.py' for n in range(9))} backup/2024"
    found = read_command(line)
    assert found.text.endswith(" … backup/2024")
    assert len(found.text) < 150


def test_of_a_long_line_the_notable_commands_are_shown() -> None:
    line = (
        "; ".join(f"echo 'looking at module {n}' && cat src/module_{n}.py" for n in range(9)) + "; rm old.py"
    )
    assert read_command(line).text == "rm old.py"


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("echo a > notes.md", ("notes.md",)),
        ("cat <<'EOF' > 'my notes.md'\nx\nEOF", ("my notes.md",)),
        ("sed -i 's/a/b/' src/a.py src/b.py", ("src/a.py", "src/b.py")),
        ("gofmt -w a.go", ("a.go",)),
        ("printf x | tee -a a.toml", ("a.toml",)),
        (SCRIPT, ("src/auth.py",)),
        ("ls > /dev/null 2>&1", ()),
        ("pytest > out.log", ()),
    ],
)
def test_files_that_a_line_writes_are_known(line: str, files: tuple[str, ...]) -> None:
    assert read_command(line).files == files


def test_a_script_writes_files_if_it_opens_them_for_that() -> None:
    assert code_writes("open('a.csv', 'w').write(x)") == (True, ("a.csv",))
    assert code_writes("require('fs').writeFileSync('a.txt', x)") == (True, ("a.txt",))
    assert code_writes("print(open('a.csv').read())") == (False, ())


def test_different_scripts_are_different_commands() -> None:
    assert read_command("python -c 'a()'").key != read_command("python -c 'b()'").key
    assert read_command("pytest -q a").key == read_command("pytest b -x").key


@given(st.text(alphabet=st.sampled_from("ab \"'\\$(){}|&;<>#\n-./=\x00\x01") | st.characters(), max_size=300))
def test_any_line_is_shown_in_one_short_line(line: str) -> None:
    found = read_command(line)
    assert len(found.text.splitlines()) <= 1
    assert len(found.text) <= 300


HOSTILE = [
    '"',
    "'",
    '\\"',
    "$(",
    "<<a",
    "> ",
    "a=",
    ";",
    "do ",
    "| tee ",
    "(",
    "uv run ",
    "open('",
    "git -C ",
    "\x00",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_lines_take_no_longer_than_long_ones(piece: str) -> None:
    begin = time.perf_counter()
    read_command((piece * 1_000_000)[:1_000_000])
    assert time.perf_counter() - begin < 1
