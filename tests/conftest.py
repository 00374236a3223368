"""Settings that every test shares: no test may reach the user's keys or default model."""

import os

import pytest


@pytest.fixture(autouse=True)
def no_environment_of_the_user(monkeypatch):
    for name in list(os.environ):
        if name.startswith("CALIBRANT_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
