"""The functions of the package, and the methods of `Foveal` and `Session`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from entry_points.stories import SIZES, SMALLER, Step, Story
from foveal import Foveal, Session, assemble_smart_context, compare, count_tokens, fit
from foveal.model import Role
from foveal.presets import PRESETS

JSON = dict[str, Any]
BUDGET = 1_500
ASKED = {"role": "user", "content": "What failed in src/a.py?"}


@dataclass(frozen=True, slots=True)
class Place:
    """An open store with a session."""

    fov: Foveal
    session: Session
    folder: Path

    def another(self, name: str) -> Session:
        """A session that begins here."""
        return self.fov.session(name)


@contextmanager
def nowhere(folder: Path) -> Iterator[Path]:
    yield folder


@contextmanager
def opened(folder: Path) -> Iterator[Place]:
    with Foveal(folder / "store.db") as fov:
        yield Place(fov, fov.session("long"), folder)


@contextmanager
def begun(folder: Path) -> Iterator[Place]:
    """A session with a few messages, two windows and something known of the user."""
    with opened(folder) as place:
        place.session.extend([*in_result("AssertionError in src/a.py"), *_talk()])
        place.session.build(budget=BUDGET)
        place.session.build(budget=200)
        place.fov.remember("I prefer short answers.")
        place.fov.settle()
        yield place


def _talk() -> list[JSON]:
    return [
        {"role": role, "content": f"Step {n}: {role}"} for n in range(5) for role in ("user", "assistant")
    ]


def in_result(text: str) -> list[JSON]:
    """A text that a tool returned."""
    call = {"id": "1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}
    return [
        {"role": "user", "content": "Fix the parser in src/a.py"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": text},
        ASKED,
    ]


def said_by(role: str, text: str) -> list[JSON]:
    return in_result(text) if role == "tool" else [{"role": role, "content": text}, ASKED]


def _tools(text: str) -> list[JSON]:
    schema = {"type": "object", "properties": {"a": {"type": "string", "description": text}}}
    return [{"type": "function", "function": {"name": "f", "description": text, "parameters": schema}}]


def _tool_named(text: str) -> list[JSON]:
    return [{"type": "function", "function": {"name": text, "parameters": {text: {"type": text}}}}]


def _functions() -> dict[str, Step]:
    few = said_by("user", "hello")
    fits: dict[str, Mapping[str, Step]] = {
        "fit": {
            **{f"fit: from {role}": _fit_from(role) for role in ("user", "assistant", "system", "tool")},
            "fit: task": lambda _, text: fit(few, task=text, budget=BUDGET),
            "fit: system": lambda _, text: fit(few, system=text),
            "fit: tools": lambda _, text: fit(few, tools=_tools(text)),
            "fit: tool names": lambda _, text: fit(few, tools=_tool_named(text)),
            "fit: model": lambda _, text: fit(few, model=text),
            "fit: preset": lambda _, text: fit(few, preset=text),
            "fit: counter": lambda _, text: fit(few, counter=text),
            "fit: catalogue": lambda _, text: fit(few, catalogue=Path(text)),
            "fit: numbers": lambda _, text: fit(few, numbers={text: {text: 1}}),
            "fit: name of a number": lambda _, text: fit(few, numbers={"reploid": {text: 1}}),
            "fit: JSON": lambda _, text: fit(json.dumps(said_by("user", text))),
            "fit: not messages": lambda _, text: fit(text),
        },
        "count_tokens": {
            "count_tokens: text": lambda _, text: count_tokens(text, model="gpt-5"),
            "count_tokens: estimated": lambda _, text: count_tokens(text, model="claude-sonnet-4-5"),
            "count_tokens: messages": lambda _, text: count_tokens(in_result(text), model="gpt-5"),
            "count_tokens: model": lambda _, text: count_tokens("hello", model=text),
            "count_tokens: counter": lambda _, text: count_tokens("hello", counter=text),
            "count_tokens: tools": lambda _, text: count_tokens(few, tools=_tools(text)),
        },
        "compare": {
            "compare: messages": lambda _, text: compare(in_result(text), budget=BUDGET),
            "compare: task": lambda _, text: compare(few, task=text, budget=BUDGET),
            "compare: model": lambda _, text: compare(few, model=text, budget=BUDGET),
            "compare: presets": lambda _, text: compare(few, presets=[text], budget=BUDGET),
        },
    }
    return {name: step for steps in fits.values() for name, step in steps.items()}


def _fit_from(role: str) -> Step:
    return lambda _, text: fit(said_by(role, text), budget=BUDGET)


def _add_as(role: Any) -> Step:
    def step(place: Place, text: str) -> None:
        session = place.another(f"added by {role}")
        session.add(role, text)
        session.build(budget=BUDGET)

    return step


def _build_with(preset: str) -> Step:
    return lambda place, _: place.session.build(preset=preset, budget=BUDGET)


WRITING: dict[str, Step] = {
    **{f"Session.add: {role}": _add_as(role) for role in get_args(Role) if role != "tool"},
    "Session.add: name": lambda place, text: place.another("a").add("user", "hello", name=text),
    "Session.add: metadata": lambda place, text: place.another("b").add("user", "hi", metadata={text: text}),
    "Session.extend": lambda place, text: place.another("c").extend(in_result(text)),
    "Session.extend: again": lambda place, text: place.another("c").extend(in_result(text)),
    "Session.sync": lambda place, text: place.another("d").sync(in_result(text)),
    "Session.sync: grown": lambda place, text: place.another("d").sync([*in_result(text), *_talk()]),
    "Session.sync: edited": lambda place, text: place.another("d").sync(said_by("user", text)),
    "Session.resume": lambda place, text: place.another("e").resume(in_result(text)),
    "Session.resume: grown": lambda place, text: place.another("e").resume([*in_result(text), *_talk()]),
    "Foveal.settle": lambda place, _: place.fov.settle(),
    "Foveal.profile": lambda place, _: place.fov.profile(now=1.7e9),
}


def _with_history(role: str) -> dict[str, Step]:
    """What reads a session whose history has a long text of this role, and then what changes it."""
    return {
        f"Session.extend: from {role}": lambda place, text: place.session.extend(
            [*said_by(role, text), *_talk(), ASKED]
        ),
        "Foveal.settle: after it": lambda place, _: place.fov.settle(),
        **{f"Session.build: {preset}": _build_with(preset) for preset in PRESETS},
        "Session.build": lambda place, _: place.session.build(budget=BUDGET).explain(),
        "Session.build: with tools": lambda place, _: place.session.build(
            budget=BUDGET, tools=place.session.tools()
        ),
        "Session.build: in another format": lambda place, _: (
            place.session.build(budget=400_000, format="anthropic").request
        ),
        "Session.prompt": lambda place, _: place.session.prompt(budget=BUDGET).text,
        "Session.compare": lambda place, _: place.session.compare(budget=BUDGET),
        "Session.manifest": lambda place, _: place.session.manifest(),
        "Session.why": lambda place, _: place.session.why("m1"),
        "Session.diff": lambda place, _: place.session.diff(1, 2),
        "Session.search": lambda place, _: place.session.search("What failed in src/a.py?"),
        "Session.focus": lambda place, _: place.session.focus("What failed?", budget=BUDGET),
        "Session.answer": lambda place, _: place.session.answer("foveal_recall", {"handle": "m1"}),
        "Session.recall": lambda place, _: place.session.recall("m1"),
        "Session.entries": lambda place, _: place.session.entries(),
        "Session.export": lambda place, _: place.session.export(),
        "Session.records": lambda place, _: place.session.records(),
        "Session.stats": lambda place, _: place.session.stats(),
        "Foveal.replay": lambda place, _: place.fov.replay("long", preset="recent", budget=BUDGET),
        "Foveal.fork": lambda place, _: place.fov.fork("long", "copy"),
        "Foveal.verify": lambda place, _: place.fov.verify(),
        "Foveal.backup": lambda place, _: place.fov.backup(place.folder / "copy.db"),
        "Foveal.profile": lambda place, _: place.fov.profile(now=1.7e9),
        "Session.start_task": lambda place, _: place.session.start_task("next"),
        "Session.complete_task": _complete,
        "Session.tasks": lambda place, _: place.session.tasks(),
        "Session.prune": lambda place, _: place.session.prune(500),
        "Session.restore": lambda place, _: place.session.restore(),
        "Session.summarize": lambda place, _: place.session.summarize(3),
        "Session.restore: a summary": lambda place, _: place.session.restore(),
        "Session.compress": lambda place, _: place.session.compress(400),
        "Session.archive": lambda place, _: place.session.archive(),
        "Session.pin": lambda place, _: place.session.pin("m1"),
        "Session.build: after all of it": lambda place, _: place.session.build(budget=BUDGET),
        "Session.unpin": lambda place, _: place.session.unpin("m1"),
        "Session.forget": lambda place, _: place.session.forget("m1"),
        "Foveal.delete": lambda place, _: place.fov.delete("long"),
    }


def _complete(place: Place, text: str) -> str:
    place.session.extend([{"role": "assistant", "content": text}, ASKED])
    return place.session.complete_task()


ARGUMENTS: dict[str, Step] = {
    "Session.build: task": lambda place, text: place.session.build(task=text, budget=BUDGET),
    "Session.build: system": lambda place, text: place.session.build(system=text),
    "Session.build: tools": lambda place, text: place.session.build(tools=_tools(text)),
    "Session.build: model": lambda place, text: place.session.build(model=text),
    "Session.build: preset": lambda place, text: place.session.build(preset=text),
    "Session.build: format": lambda place, text: place.session.build(format=text),
    "Session.build: counter": lambda place, text: place.session.build(counter=text),
    "Session.prompt: task": lambda place, text: place.session.prompt(task=text, budget=BUDGET),
    "Session.prompt: system": lambda place, text: place.session.prompt(system=text),
    "Session.compare: task": lambda place, text: place.session.compare(task=text, budget=BUDGET),
    "Session.why: after a long task": lambda place, _: place.session.why("m1"),
    "Session.why: id": lambda place, text: place.session.why(text),
    "Session.recall: handle": lambda place, text: place.session.recall(text),
    "Session.recall: everywhere": lambda place, text: place.session.recall(f"fv-{text}", everywhere=True),
    "Session.search: query": lambda place, text: place.session.search(text),
    "Session.search: everywhere": lambda place, text: place.session.search(text, everywhere=True),
    "Session.focus: question": lambda place, text: place.session.focus(text, budget=BUDGET),
    "Session.answer: query": lambda place, text: place.session.answer("foveal_search", {"query": text}),
    "Session.answer: name": lambda place, text: place.session.answer(text, {"query": text}),
    "Session.answer: arguments": lambda place, text: place.session.answer("foveal_search", text),
    "Session.answer: call": lambda place, text: place.session.answer(
        {"id": text, "type": "function", "function": {"name": "foveal_recall", "arguments": text}}
    ),
    "Session.tools: format": lambda place, text: place.session.tools(text),
    "Session.pin: id": lambda place, text: place.session.pin(text),
    "Session.unpin: id": lambda place, text: place.session.unpin(text),
    "Session.forget: id": lambda place, text: place.session.forget(text),
    "Session.restore: id": lambda place, text: place.session.restore(text),
    "Session.start_task: name": lambda place, text: place.session.start_task(text),
    "Session.complete_task: name": lambda place, _: place.session.complete_task(),
    "Foveal.session: name": lambda place, text: place.fov.session(text),
    "Foveal.session: model": lambda place, text: place.fov.session("m", model=text),
    "Foveal.session: preset": lambda place, text: place.fov.session("p", preset=text),
    "Foveal.sessions": lambda place, _: place.fov.sessions(),
    "Foveal.find: name": lambda place, text: place.fov.find(text),
    "Foveal.open: name": lambda place, text: place.fov.open(text),
    "Foveal.fork: new": lambda place, text: place.fov.fork("long", text),
    "Foveal.fork: name": lambda place, text: place.fov.fork(text, "new"),
    "Foveal.delete: name": lambda place, text: place.fov.delete(text),
    "Foveal.replay: session": lambda place, text: place.fov.replay(text, preset="recent"),
    "Foveal.replay: preset": lambda place, text: place.fov.replay("long", preset=text),
    "Foveal.backup: path": lambda place, text: place.fov.backup(place.folder / text),
    "Foveal.remember: text": lambda place, text: place.fov.remember(text),
    "Foveal.remember: kind": lambda place, text: place.fov.remember("I like tea.", kind=text),
    "Foveal.edit_memory: text": lambda place, text: place.fov.edit_memory("memory-1", text),
    "Foveal.edit_memory: id": lambda place, text: place.fov.edit_memory(text, "I like coffee."),
    "Foveal.confirm: id": lambda place, text: place.fov.confirm(text),
    "Foveal.forget_memory: id": lambda place, text: place.fov.forget_memory(text),
    "Foveal.rename_thing: name": lambda place, text: place.fov.rename_thing("thing-1", text),
    "Foveal.rename_thing: id": lambda place, text: place.fov.rename_thing(text, "the login"),
    "Foveal.forget_thing: id": lambda place, text: place.fov.forget_thing(text),
    "Foveal.presence: fields": lambda place, text: place.fov.presence(
        {"active_conversation": text, "last_path": text, "active_notebook": text, "active_persona": text}
    ),
    "Foveal.presence: paths": lambda place, text: place.fov.presence(
        {"navigation_history": text.split("a"), "visible_conversations": text.split(" ")}
    ),
    "Foveal.presence: session": lambda place, text: place.fov.presence({}, session=text),
    "Foveal.predictions: session": lambda place, text: place.fov.predictions(text),
    "Foveal.pool: name": lambda place, text: place.fov.pool(text),
    "Foveal.session: pool": lambda place, text: place.fov.session("in", pool=text),
    "Foveal.pools": lambda place, _: place.fov.pools(),
    "Foveal.learn: preset": lambda place, text: place.fov.learn(preset=text),
    "Foveal.learn: sessions": lambda place, text: place.fov.learn(sessions=[text]),
    "Foveal.learn: work": lambda place, text: place.fov.learn(work=text),
    "Foveal.optimizations": lambda place, _: place.fov.optimizations(),
    "Foveal.profile: after all of it": lambda place, _: place.fov.profile(now=1.7e9),
    "Session.build: after all of it": lambda place, _: place.session.build(budget=BUDGET),
}

FILES = (
    *("src/a.py", "src/b.js", "src/c.go", "README.md", "docs/guide.md", "data.json", "app.log", ".gitignore"),
    *("report.xml", "pytest.json", "junit.xml", "ruff.json", "CLAUDE.md"),
)


@contextmanager
def in_workspace(folder: Path) -> Iterator[Place]:
    with begun(folder) as place:
        (folder / "work").mkdir()
        yield place


def _context_of(name: str) -> Step:
    def step(place: Place, text: str) -> None:
        work = _folder(place, name, text)
        assemble_smart_context(work, task=f"Fix {name}", active_files=[name], budget=20_000)

    return step


def _folder(place: Place, name: str, text: str) -> Path:
    """A folder with the text in one file."""
    work = place.folder / "work" / name.replace("/", "-")
    (work / name).parent.mkdir(parents=True, exist_ok=True)
    (work / name).write_text(text, encoding="utf-8", newline="")
    return work


def _in_folder(place: Place, **options: Any) -> Any:
    return place.session.context(workspace=_folder(place, "a.py", "def f(): pass\n"), **options)


WORKSPACE: dict[str, Step] = {
    **{f"assemble_smart_context: {name}": _context_of(name) for name in FILES},
    "assemble_smart_context: task": lambda place, text: assemble_smart_context(
        _folder(place, "a.py", "def f(): pass\n"), task=text
    ),
    "assemble_smart_context: said": lambda place, text: assemble_smart_context(
        _folder(place, "a.py", "def f(): pass\n"), said=[text]
    ),
    "assemble_smart_context: active files": lambda place, text: assemble_smart_context(
        _folder(place, "a.py", "def f(): pass\n"), active_files=[text]
    ),
    "Session.context": lambda place, text: place.session.context(
        workspace=_folder(place, "src/a.py", text), budget=20_000
    ),
    "Session.context: task": lambda place, text: _in_folder(place, task=text),
    "Session.context: active files": lambda place, text: _in_folder(place, active_files=[text]),
    "Session.context: contributors": lambda place, text: _in_folder(place, contributors=[text]),
    "Session.context: workspace": lambda place, text: place.session.context(workspace=text),
    "Session.build: workspace": lambda place, text: place.session.build(
        workspace=_folder(place, "README.md", text), budget=20_000, active_files=["README.md"]
    ),
    "Session.prompt: workspace": lambda place, text: place.session.prompt(
        workspace=_folder(place, "notes.txt", text), budget=20_000
    ),
}


def _many(text: str) -> list[JSON]:
    """A message for each hundred characters."""
    return [
        {"role": "assistant" if n % 2 else "user", "content": f"{n}: {text[n : n + 20]}"}
        for n in range(len(text) // 100)
    ]


MANY_MESSAGES: dict[str, Step] = {
    "fit: many messages": lambda _, text: fit(_many(text), budget=BUDGET),
    "Session.extend: many messages": lambda place, text: place.session.extend(_many(text)),
    "Session.build: many messages": lambda place, _: place.session.build(budget=BUDGET),
    "Session.sync: many messages": lambda place, text: place.another("sync").sync(_many(text)),
    "Session.sync: many, edited": lambda place, text: place.another("sync").sync(_many(text)[1:]),
    "Session.resume: many messages": lambda place, text: place.another("resume").resume(_many(text)),
}


def _settle(place: Place) -> None:
    place.fov.settle()


LIBRARY = (
    Story(name="functions", place=nowhere, steps=_functions(), sizes=SMALLER),
    Story(name="writing", place=opened, steps=WRITING, rest=_settle),
    *(
        Story(
            name=f"a long text from {role}",
            place=opened,
            steps=_with_history(role),
            sizes=SMALLER if role in ("user", "assistant") else SIZES,
            rest=_settle,
        )
        for role in ("user", "assistant", "tool", "system")
    ),
    Story(name="arguments", place=begun, steps=ARGUMENTS, rest=_settle),
    Story(name="workspace", place=in_workspace, steps=WORKSPACE, sizes=SMALLER, rest=_settle),
    Story(name="many messages", place=opened, steps=MANY_MESSAGES, sizes=(50_000, 500_000), rest=_settle),
)
