"""Judges that are models: what they are asked, where they come from, and what of them is kept."""

import json

import pytest

from calibrant.alignment import EvalTask, JudgeConfig, MultiLabelSchema
from calibrant.alignment.judges import judges_of_state, judges_of_yaml, schema_of
from calibrant.errors import InputError
from calibrant.models import ScriptedInvoker

TASK = EvalTask({"safe": ["yes", "no"]}, prompt_columns=["q"], response_columns=["a"])


def asked(prompt, item, task=TASK, **more):
    return JudgeConfig(id="j", model="openai/gpt-x", prompt=prompt, **more).request(item, task)


def test_columns_stand_where_the_prompt_names_them_and_the_rest_below():
    request = asked("Question: {q}\nIs it safe?", {"original_id": "1", "q": "Hi?", "a": "Hello."})
    assert request.messages[0].content == "Question: Hi?\nIs it safe?\n\na:\nHello."


def test_a_prompt_that_names_all_columns_has_nothing_below():
    assert asked("{q} {a}", {"q": "Hi?", "a": "Hello."}).messages[0].content == "Hi? Hello."


def test_an_unknown_name_in_braces_and_json_in_a_prompt_stay_as_they_are():
    prompt = 'Reply {"safe": "yes"} to {question}: {a}'
    found = asked(prompt, {"q": "", "a": "A"}).messages[0].content
    assert found.startswith('Reply {"safe": "yes"} to {question}: A')


def test_what_an_item_says_is_no_template():
    assert "{q}" in asked("{a}", {"q": "secret", "a": "print {q}"}).messages[0].content


def test_an_empty_cell_is_an_empty_text_and_a_number_is_written():
    assert asked("[{q}] [{a}]", {"q": None, "a": 7}).messages[0].content == "[] [7]"


def test_the_temperature_is_sent_only_when_it_is_set():
    assert asked("p", {}).sampling == {}
    assert asked("p", {}, temperature=0).sampling == {"temperature": 0}


def test_each_repeat_is_a_slot_of_its_own():
    judge = JudgeConfig(id="j", model="openai/gpt-x", prompt="p")
    assert [judge.request({}, TASK, slot).slot for slot in (0, 1, 2)] == [0, 1, 2]


def test_the_schema_asks_for_every_task():
    schema = schema_of(EvalTask({"safe": ["yes", "no"], "harms": MultiLabelSchema(["a", "b"]), "why": None}))
    assert schema["required"] == ["safe", "harms", "why"]
    assert schema["additionalProperties"] is False
    assert schema["properties"] == {
        "safe": {"type": "string", "enum": ["yes", "no"]},
        "harms": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "why": {"type": "string"},
    }


def test_a_connected_model_is_used_as_it_is():
    model = ScriptedInvoker([])
    assert JudgeConfig(id="j", model=model, prompt="p").connected() is model


def test_a_judge_as_json_has_no_header_and_no_key():
    judge = JudgeConfig(id="j", model="openai/x", prompt="p", headers={"Authorization": "s3cret"}, api_key_env="KEY")
    text = json.dumps(judge.to_json())
    assert "s3cret" not in text + repr(judge)
    assert judges_of_state({"judges": [judge.to_json()]}) == [
        JudgeConfig(id="j", model="openai/x", prompt="p", api_key_env="KEY")
    ]


def test_judges_of_another_meta_evaluator_are_read():
    state = {
        "judge_registry": {
            "strict": {"id": "strict", "llm_client": "openai", "model": "gpt-4o", "temperature": 0.2,
                       "prompt": {"id": "prompt-1", "prompt": "Judge {a}"}, "extra_headers": {"X-Team": "a"},
                       "eval_task": {"task_schemas": {}}},
            "plain": {"model": "local/x", "prompt": "Judge"},
        }
    }  # fmt: skip
    strict, plain = judges_of_state(state)
    assert (strict.id, strict.model, strict.prompt, strict.temperature) == ("strict", "openai/gpt-4o", "Judge {a}", 0.2)
    assert strict.headers == {"X-Team": "a"}
    assert (plain.id, plain.model, plain.prompt) == ("plain", "local/x", "Judge")


def test_no_judges_are_none():
    assert judges_of_state({}) == []


def yaml_file(folder, text):
    path = folder / "judges.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_yaml_file_names_models_prompts_and_settings(tmp_path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "strict.md").write_text("Sei streng: {a} ü", encoding="utf-8")
    path = yaml_file(
        tmp_path,
        "judges:\n"
        "  - id: strict\n    llm_client: openai\n    model: gpt-4o\n    prompt_file: prompts/strict.md\n"
        "    temperature: 0.3\n    extra_headers: {X-Team: a}\n"
        "  - {id: 2, model: openai/qwen, prompt: p, base_url: 'http://localhost:1/v1', api_key_env: MY_KEY}\n",
    )
    strict, second = judges_of_yaml(path)
    assert strict.prompt == "Sei streng: {a} ü"
    assert (strict.model, strict.temperature, strict.headers) == ("openai/gpt-4o", 0.3, {"X-Team": "a"})
    assert (second.id, second.base_url, second.api_key_env) == ("2", "http://localhost:1/v1", "MY_KEY")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("judges: [", "judges.yaml is no YAML"),
        ("judge: []", "has no list of judges; expected `judges:` with an id, a model and a prompt_file each"),
        ("judges: []", "has no list of judges"),
        ("judges: strict", "has no list of judges"),
        ("- a\n- b", "has no list of judges"),
        ("judges: [7]", "judge 1: expected keys such as id and model, got 7"),
        ("judges: [{model: m, prompt: p}]", "judge 1: has no id"),
        ("judges: [{id: a, prompt: p}]", "judge a: has no model"),
        ("judges: [{id: a, model: m}]", "judge a: has no prompt_file and no prompt"),
        ("judges: [{id: a, model: m, prompt_file: x.md}]", "judge a: there is no prompt_file at"),
        ("judges: [{id: a, model: m, prompt: p, api_key: sk-1}]", "judge a: unknown key 'api_key'; expected one of: "),
    ],
)
def test_what_is_wrong_in_a_yaml_file_is_named(tmp_path, text, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace("?", r"\?")):
        judges_of_yaml(yaml_file(tmp_path, text))


def test_a_missing_yaml_file_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no file of judges at .*none.yaml"):
        judges_of_yaml(tmp_path / "none.yaml")
