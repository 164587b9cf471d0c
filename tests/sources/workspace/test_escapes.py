"""Nothing outside the root is read, nothing hangs, and each refusal says why: every way out that is known."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fenced import CANARY, ON_WINDOWS, Fenced, fenced, opened, stays_below, within
from foveal.sources.workspace.workspace import Limits

FORMS = (
    "{up}{target}",
    "./{up}{target}",
    "src/{more}{target}",
    "src/./{more}{target}",
    "absent/{more}{target}",
    "{root}/{up}{target}",
    "{root}/src/{more}{target}",
    "{up}/{target}/",
)
TARGETS = ("outside/canary.txt", "outside/deep/canary.txt", "outside/absent.txt", "outside")
CHAINS = (1, 2, 3, 5, 8)
ELSEWHERE = (
    "/dev/zero",
    "/dev/stdin",
    "/dev/tty",
    "/proc/self/environ",
    "/proc/self/root",
    "/etc/passwd",
    "/",
)
posix = pytest.mark.skipif(ON_WINDOWS, reason="no such files on Windows")


@pytest.fixture
def place(tmp_path: Path) -> Fenced:
    found = fenced(tmp_path)
    found.put("src/app.py")
    return found


def both(place: Fenced, path: str) -> str:
    """Why a path is refused, after a look that nothing of the outside is to be had by it."""
    assert not [text for text in within(lambda: place.everything(path)) if CANARY in text]
    place.refused.clear()
    with opened() as opens:
        why = place.why(path, ignored=True)
    assert ON_WINDOWS or stays_below(place.root, opens)
    return why


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ups", range(1, 13))
def test_no_spelling_leads_out(place: Fenced, ups: int, form: str, target: str) -> None:
    up, more = "../" * ups, "../" * (ups + 1)
    path = form.format(up=up, more=more, target=target, root=place.root)
    assert both(place, path) == "is outside the workspace"


@pytest.mark.parametrize("name", ["canary.txt", "deep/canary.txt", ".env", "absent", ""])
@pytest.mark.parametrize("form", ["{}", "{}/", "//{}", "{}/.", "{}/../{name}"])
def test_no_absolute_path_leads_out(place: Fenced, name: str, form: str) -> None:
    path = form.format(place.outside / name, name=Path(name).name or "outside")
    assert both(place, path) == "is outside the workspace"


def test_a_neighbour_whose_name_begins_like_the_root_is_outside(place: Fenced) -> None:
    neighbour = place.root.with_name("root2")
    neighbour.mkdir()
    (neighbour / "canary.txt").write_text(CANARY)
    assert both(place, str(neighbour / "canary.txt")) == "is outside the workspace"


@pytest.mark.parametrize("length", CHAINS)
@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("target", ["canary.txt", "deep/canary.txt", ".env", "absent.txt", "deep"])
def test_no_chain_of_links_leads_out(place: Fenced, length: int, absolute: bool, target: str) -> None:
    place.link("link1", place.outside / target if absolute else Path("../outside") / target)
    for number in range(2, length + 1):
        place.link(f"link{number}", f"link{number - 1}")
    assert both(place, f"link{length}") == "is a link to what is outside the workspace"


@pytest.mark.parametrize("through", ["..", "../outside", "../outside/deep", "/", "src/../.."])
@pytest.mark.parametrize("rest", ["canary.txt", "outside/canary.txt", "deep/canary.txt", "absent", "a/b/c"])
def test_no_folder_that_is_a_link_leads_out(place: Fenced, through: str, rest: str) -> None:
    place.link("src/inner/folder", Path("../..") / through)
    assert both(place, f"src/inner/folder/{rest}") == "is a link to what is outside the workspace"


@posix
@pytest.mark.parametrize("target", ELSEWHERE)
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_no_link_leads_to_what_the_machine_keeps_elsewhere(place: Fenced, target: str, depth: int) -> None:
    path = "/".join([*"abc"[:depth], "link"])
    place.link(path, target)
    assert both(place, path) == "is a link to what is outside the workspace"


@pytest.mark.parametrize("length", [1, 2, 3, 10])
def test_links_in_a_circle_are_refused(place: Fenced, length: int) -> None:
    for number in range(length):
        place.link(f"link{number}", f"link{(number + 1) % length}")
    assert both(place, "link0") == "is a link that leads through more than 40 others"


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("length", CHAINS)
def test_links_inside_lead_to_what_they_name(place: Fenced, length: int, absolute: bool) -> None:
    place.link("link1", place.root / "src/app.py" if absolute else "src/app.py")
    for number in range(2, length + 1):
        place.link(f"link{number}", f"link{number - 1}")
    workspace = place.workspace()
    assert workspace.text(f"link{length}") == "inside\n"
    assert [file.path for file in workspace.scan()] == ["src/app.py"]


def test_a_folder_that_links_to_itself_is_walked_once(place: Fenced) -> None:
    place.link("src/again", "..")
    assert [file.path for file in place.workspace().scan()] == ["src/app.py"]
    assert place.workspace().text("src/again/src/again/src/app.py") == "inside\n"


def test_the_root_may_itself_be_a_link(place: Fenced) -> None:
    place.link("../door", place.root)
    workspace = place.__class__(root=place.root.with_name("door"), outside=place.outside).workspace()
    assert workspace.text(str(place.root.with_name("door") / "src/app.py")) == "inside\n"
    assert workspace.text(str(place.root / "src/app.py")) == "inside\n"


@posix
@pytest.mark.parametrize("folder", ["", "a/", "a/b/"])
@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_nothing_but_ordinary_files_is_opened(
    place: Fenced, kind: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.root / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(place.root / folder)  # a socket's address has room for a hundred letters
    _make(kind)
    assert both(place, f"{folder}special") == f"is a {kind}"


def _make(kind: str) -> None:
    if kind == "pipe":
        os.mkfifo("special")
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("special")
    else:
        try:
            os.mknod("special", 0o20666, os.makedev(1, 5))  # /dev/zero by another name
        except PermissionError:
            pytest.skip("only the administrator can make a device")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices in the file system here")
@pytest.mark.parametrize("name", ["zero", "random", "urandom", "null", "full", "tty", "ptmx"])
def test_devices_are_refused_where_they_are_at_home(place: Fenced, name: str) -> None:
    if not Path("/dev", name).is_char_device():
        pytest.skip("no such device here")
    place.root = Path("/dev").resolve()
    assert place.why(name) == "is a device"


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc here")
@pytest.mark.parametrize(
    "name", ["maps", "smaps", "environ", "mem", "pagemap", "root/etc/passwd", "exe", "fd/0"]
)
def test_files_without_a_size_end_at_the_limit(place: Fenced, name: str) -> None:
    place.root, place.limits = Path("/proc/self").resolve(), Limits(file_bytes=16)
    assert place.why(name)


ODD = [
    chr(code) for code in (0, 1, 7, 9, 10, 13, 27, 127, 0x85, 0x2028, 0x2029, 0x202E, 0x2066, 0xDC80, 0xD800)
]


@pytest.mark.parametrize(
    "form", ["{}", "a{}b", "src/{}", "src{}/app.py", "src/app.py{}", "../outside/canary.txt{}"]
)
@pytest.mark.parametrize("letter", ODD)
def test_names_that_are_no_text_are_refused(place: Fenced, form: str, letter: str) -> None:
    why = both(place, form.format(letter))
    assert why == "has a control character or bytes that are no text in its name"
    assert letter not in place.refused[0].path


@posix
def test_a_scan_passes_over_names_that_are_no_text(place: Fenced) -> None:
    for name in (b"line\nbreak.py", b"latin-\xe9.py"):
        Path(os.fsdecode(os.fsencode(place.root) + b"/" + name)).write_text("x")
    assert [file.path for file in place.workspace().scan()] == ["src/app.py"]
    assert {refusal.path for refusal in place.refused} == {"line\\nbreak.py", "latin-\\udce9.py"}


@posix
def test_no_exchange_of_a_folder_for_a_link_leads_out(place: Fenced) -> None:
    place.put("deep/canary.txt", "inside")
    place.link("spare", place.outside / "deep")
    stop = threading.Event()

    def exchange() -> None:
        names = [place.root / name for name in ("deep", "spare", "aside")]
        while not stop.is_set():
            for one, other in ((0, 2), (1, 0), (0, 1), (2, 0)):
                names[one].rename(names[other])

    thread = threading.Thread(target=exchange, daemon=True)
    thread.start()
    texts = within(lambda: {place.workspace().text("deep/canary.txt") for _ in range(3_000)}, 60)
    stop.set()
    thread.join()
    assert texts <= {"inside", None}
    assert "inside" in texts


@given(st.text(st.sampled_from("./\\~$a%0 \x00é") | st.characters(), max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_for_nothing_outside_is_had(place: Fenced, path: str) -> None:
    asked = [path, f"../outside/{path}", f"{place.outside}/{path}", f"src/{path}/../../../outside/canary.txt"]
    assert not [text for text in place.everything(*asked) if CANARY in text]


steps = st.lists(
    st.sampled_from(["a", "b", "..", ".", "outside", "root", "canary.txt", "deep", "/"]), max_size=5
)


@posix
@given(st.lists(st.tuples(steps, steps), max_size=6), steps)
def test_whatever_links_there_are_nothing_outside_is_had(
    links: list[tuple[list[str], list[str]]], asked: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = fenced(Path(folder))
        for path, target in links:
            _linked(place, "/".join(step for step in path if step.isalpha()) or "a", target)
        paths = ["/".join(asked), *("/".join([*path, *asked]) for path, _ in links)]
        assert not [text for text in within(lambda: place.everything(*paths)) if CANARY in text]


def _linked(place: Fenced, path: str, target: list[str]) -> None:
    with contextlib.suppress(OSError):  # a link is in the way
        (place.root / path).parent.mkdir(parents=True, exist_ok=True)
        (place.root / path).symlink_to(_target(place, target))


def _target(place: Fenced, steps: list[str]) -> str:
    joined = "/".join(step for step in steps if step != "/") or "."
    return f"{place.outside.parent}/{joined}" if steps[:1] == ["/"] else joined
