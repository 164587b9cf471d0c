"""How the tests run: never in the home of the person who runs them, and as hard as was asked for.

The laws are tried on 500 examples, other properties on 200 unless they say, the same ones every time in CI;
`make soak` gives them 20 000.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

SOAK = os.environ.get("FOVEAL_SOAK") == "1"
OUR_OWN = {"FOVEAL_SOAK", "FOVEAL_BENCH"}

# A slow machine is not a wrong program: no deadlines, and slow generation is not an error.
_patient = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("laws", _patient, max_examples=500, derandomize="CI" in os.environ)
settings.register_profile("test", _patient, max_examples=200, derandomize="CI" in os.environ)
settings.register_profile("soak", _patient, max_examples=20_000, derandomize=False)
settings.load_profile("soak" if SOAK else "test")


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Properties take their numbers when their module is imported."""
    if isinstance(collector, pytest.Module) and not SOAK:
        settings.load_profile("laws" if collector.path.parent.name == "laws" else "test")


@pytest.fixture(autouse=True, scope="session")
def _away_from_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = str(tmp_path_factory.mktemp("home"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, home)
        for name in [name for name in os.environ if name.startswith("FOVEAL_") and name not in OUR_OWN]:
            patch.delenv(name)
        yield
