import json

import pytest
from provider_server import ProviderServer, Refuse, completion_payload

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
    assert err.startswith("error: missing_extra: the model file of local/smollm2 is not at")
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


def test_list_says_what_each_model_needs_and_never_a_key(run, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sentinel")
    monkeypatch.setenv("CALIBRANT_HOME", str(tmp_path))
    code, out, err = run("list")
    assert (code, err) == (0, "")
    assert "sk-sentinel" not in out
    rows = {line.split()[0]: line for line in out.splitlines() if line.startswith("  ")}
    assert "OPENAI_API_KEY is set" in rows["openai"]
    assert "needs ANTHROPIC_API_KEY" in rows["anthropic"]
    assert "needs no key" in rows["ollama"]
    assert "not fetched: calibrant models fetch local/smollm2" in rows["local/smollm2"]
    assert "ready" in rows["local/wordllama"]


def test_list_as_json_holds_the_same(run, monkeypatch, smol):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-sentinel")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@localhost/v1")
    code, out, _ = run("list", "--json")
    known = json.loads(out)
    assert code == 0
    assert known["schema"] == "calibrant.models/1"
    assert "sentinel" not in out
    assert "secret" not in out
    anthropic = next(row for row in known["providers"] if row["name"] == "anthropic")
    assert anthropic["key_is_set"] is True
    assert next(row for row in known["offline"] if row["name"] == "local/smollm2")["state"] == "ready"


def test_ask_without_a_key_says_which_is_missing(run):
    code, out, err = run("ask", "gpt-x", "Hi")
    assert (code, out) == (2, "")
    assert err.startswith("error: unauthorized: openai/gpt-x needs a key: set OPENAI_API_KEY")


def test_ask_of_an_unknown_provider_lists_those_there_are(run):
    code, _, err = run("ask", "nobody/x", "Hi")
    assert code == 2
    assert "unknown provider 'nobody' in 'nobody/x'; expected one of: anthropic, azure" in err


@pytest.mark.parametrize("name", ["openai/judge", "anthropic/judge", "vllm/judge", "house/judge"])
def test_ask_reaches_any_server_by_its_address(run, name):
    with ProviderServer() as server:
        assert run("ask", name, "Open?", "--labels", "yes,no", "--base-url", server.openai_url) == (0, "yes\n", "")
    assert server.requests[0].question.startswith("Open?")


def test_ask_as_json_says_who_answered_and_in_which_form(run, tmp_path):
    def answer(body):
        if body.get("response_format", {}).get("type") == "json_schema":
            raise Refuse(400, {"error": {"message": "response_format json_schema is not supported"}})
        return '{"ok": true}'

    (tmp_path / "s.json").write_text('{"type": "object", "properties": {"ok": {"type": "boolean"}}}')
    with ProviderServer(answer) as server:
        options = ("--schema", str(tmp_path / "s.json"), "--system", "Be brief.", "--base-url", server.openai_url)
        code, out, err = run("ask", "openai/judge", "Is 2 even?", *options, "--json")
    reply = json.loads(out)
    assert (code, err) == (0, "")
    assert (reply["model"], reply["answered_by"]) == ("openai/judge", "judge-2026")
    assert (reply["data"], reply["mode"]) == ({"ok": True}, "json_object")
    assert reply["usage"] == {"calls": 1, "cached": 0, "input_tokens": 40, "output_tokens": 10, "usd": None}
    assert server.requests[0].body["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_reply_that_is_no_label_is_a_failure_with_its_code(run):
    with ProviderServer(lambda body: completion_payload(body, "maybe")) as server:
        code, out, err = run("ask", "openai/judge", "Open?", "--labels", "yes,no", "--base-url", server.openai_url)
    assert (code, out) == (2, "")
    assert err == "error: reply_unparsable: expected one of yes, no and nothing else, got 'maybe' (asked 3 times)\n"


def test_a_failure_that_passes_and_a_reply_that_is_no_label_are_asked_for_again(run):
    said = iter([None, "maybe", "yes"])

    def answer(body):
        word = next(said)
        if word is None:
            raise Refuse(503, {"error": {"message": "busy"}})
        return completion_payload(body, word)

    with ProviderServer(answer) as server:
        options = ("--labels", "yes,no", "--base-url", server.openai_url, "--json")
        code, out, err = run("ask", "openai/judge", "Open?", *options)
    assert (code, err) == (0, "")
    reply = json.loads(out)
    assert (reply["data"], reply["usage"]["calls"], len(server.requests)) == ("yes", 2, 3)


def test_a_server_that_is_not_there_is_one_line(run):
    code, out, err = run("ask", "vllm/judge", "Open?", "--base-url", "http://127.0.0.1:1/v1")
    assert (code, out) == (2, "")
    assert err.startswith("error: judge_unreachable: vllm/judge at http://127.0.0.1:1/v1 could not be reached")
    assert err.endswith("(asked 3 times)\n")
    assert err.count("\n") == 1


def test_labels_that_are_equal_are_wrong_use(run):
    code, _, err = run("ask", "vllm/judge", "Open?", "--labels", "yes, yes")
    assert code == 2
    assert "labels differ from each other, got ('yes', 'yes')" in err
