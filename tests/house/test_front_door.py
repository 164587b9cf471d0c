"""What `import foveal` gives, and what it must not bring along."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

import pytest

import foveal
from foveal import errors
from house import api
from house.tree import python

HEAVY = {
    "aiohttp", "anthropic", "django", "fastapi", "flask", "genai_prices", "google", "http", "httpcore",
    "httpcore2", "httpx", "httpx2", "langchain_core", "numpy", "openai", "pandas", "pydantic",
    "pydantic_core", "requests", "rich", "sqlalchemy", "starlette", "tiktoken", "typer", "urllib3", "uvicorn",
}  # fmt: skip
LOADED = "print(*sorted({name.partition('.')[0] for name in sys.modules}))"


def test_every_public_name_is_listed_and_every_listed_name_is_there() -> None:
    assert all(hasattr(foveal, name) for name in foveal.__all__)  # which loads those that are lazy
    own = {name for name, value in vars(foveal).items() if not isinstance(value, ModuleType)}
    public = {name for name in own if not name.startswith("_")} - {"annotations"}
    assert public == set(foveal.__all__)
    assert public <= set(dir(foveal))


def test_importing_loads_the_errors_and_nothing_else_of_ours(tmp_path: Path) -> None:
    code = "import sys, foveal; print(*sorted(m for m in sys.modules if m.partition('.')[0] == 'foveal'))"
    assert python(code, tmp_path) == "foveal foveal.errors"


def test_the_public_api_changes_only_on_purpose() -> None:
    assert api.listing() == api.PAGE.read_text(encoding="utf-8"), (
        "meant? run `PYTHONPATH=src:tests python tests/house/api.py`"
    )


def test_the_front_door_has_at_most_thirty_names() -> None:
    assert len(set(foveal.__all__)) == len(foveal.__all__) <= 30


def test_every_error_can_be_caught_from_the_front_door() -> None:
    classes = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert classes <= set(foveal.__all__)


def test_importing_loads_no_web_orm_numpy_or_sdk_module(tmp_path: Path) -> None:
    loaded = python(f"import sys, foveal; {LOADED}", tmp_path).split()
    assert HEAVY.isdisjoint(loaded), HEAVY & set(loaded)


def test_what_looks_through_workspaces_is_loaded_when_it_is_asked_for(tmp_path: Path) -> None:
    loaded = "'foveal.sources.assemble' in sys.modules"
    code = f"import sys, foveal; before = {loaded}; foveal.assemble_smart_context; print(before, {loaded})"
    assert python(code, tmp_path) == "False True"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'foveal' has no attribute 'nonesuch'"):
        _ = foveal.nonesuch  # type: ignore[attr-defined]


def test_fitting_loads_none_of_them_either(tmp_path: Path) -> None:
    fit = "foveal.fit([{'role': 'user', 'content': 'hello'}], model='gpt-5', budget=1_000)"
    loaded = python(f"import sys, foveal; {fit}; {LOADED}", tmp_path).split()
    assert HEAVY.isdisjoint(loaded), HEAVY & set(loaded)


def test_importing_starts_no_thread_and_writes_no_file(tmp_path: Path) -> None:
    assert python("import foveal, threading; print(threading.active_count())", tmp_path) == "1"
    assert list(tmp_path.iterdir()) == []


def test_importing_reads_no_environment_variable_of_ours(tmp_path: Path) -> None:
    code = (
        "import os; seen = []; get = os._Environ.__getitem__\n"
        "os._Environ.__getitem__ = lambda self, key: seen.append(key) or get(self, key)\n"
        "import foveal; print([key for key in seen if key.startswith('FOVEAL')])"
    )
    assert python(code, tmp_path) == "[]"
