import json

import pytest

from calibrant.cli import main
from calibrant.errors import ModelCallError
from calibrant.models.gguf_files import fetch_model


@pytest.fixture
def run(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["models", *arguments])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


@pytest.fixture(scope="module")
def smol():
    try:
        return fetch_model("local/smollm2")
    except ModelCallError as error:
        pytest.skip(f"the model file could not be fetched: {error}")


def test_fetch_prints_where_the_file_lies(run, smol):
    assert run("fetch", "local/smollm2") == (0, f"{smol}\n", "")


def test_fetch_of_an_unknown_model_lists_those_there_are(run):
    code, out, err = run("fetch", "local/big")
    assert (code, out) == (2, "")
    assert err == "error: unknown model to fetch 'local/big'; expected one of: local/smollm2\n"


def test_ask_prints_the_answer(run, smol):
    code, out, err = run("ask", "local/smollm2", "Is Paris in France?", "--labels", "yes, no")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] in {"yes", "no"}
    assert [line.split(":")[0] for line in lines[1:3]] == ["  yes", "  no"]
    assert "on none of them" in lines[3]


def test_ask_by_a_schema_prints_json_alone(run, smol, tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}))
    code, out, err = run("ask", "local/smollm2", "Is 2 even?", "--schema", str(schema), "--json")
    reply = json.loads(out)
    assert (code, err) == (0, "")
    assert isinstance(reply["data"]["ok"], bool)
    assert reply["schema"] == "calibrant.reply/1"
    assert reply["mode"] == "json_schema"
    assert reply["usage"]["usd"] == 0.0
    assert reply["label_probs"] is None


def test_a_failed_call_is_one_line_with_its_code_and_remedy(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CALIBRANT_HOME", str(tmp_path))
    code, out, err = run("ask", "local/smollm2", "Hi")
    assert (code, out) == (2, "")
    assert err.startswith("Error: missing_extra: the model file of local/smollm2 is not at")
    assert err.endswith("calibrant models fetch local/smollm2\n")


def test_two_forms_of_a_reply_are_wrong_use(run, tmp_path):
    (tmp_path / "s.json").write_text("{}")
    code, _, err = run("ask", "local/smollm2", "Hi", "--labels", "a,b", "--schema", str(tmp_path / "s.json"))
    assert code == 2
    assert "--schema and --labels are two forms of a reply; give one" in err


@pytest.mark.parametrize(
    ("content", "said"), [("{", "is not JSON"), ("[]", "must hold a JSON schema, which is an object")]
)
def test_a_schema_file_that_holds_no_schema_is_named(run, tmp_path, content, said):
    (tmp_path / "s.json").write_text(content)
    code, _, err = run("ask", "local/smollm2", "Hi", "--schema", str(tmp_path / "s.json"))
    assert code == 2
    assert f"s.json {said}" in err
