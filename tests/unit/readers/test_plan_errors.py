"""Every key of a plan, wrong: the line, what was expected, what came, and the nearest name."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from calibrant.errors import InputError
from calibrant.readers.plan import plan_schema, read_plan
from calibrant.readers.schema import findings

BASE = "version: 1\ndataset: items.csv\nmetrics: [brief]\n"


@pytest.fixture
def problems(tmp_path):
    (tmp_path / "items.csv").write_text("")
    (tmp_path / "polite.md").write_text("")

    def found(text):
        (tmp_path / "plan.yaml").write_text(dedent(text), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_plan(tmp_path / "plan.yaml")
        assert str(caught.value).startswith("plan.yaml has")
        return list(caught.value.problems)

    return found


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nam: x", "unknown key 'nam' in the plan; did you mean 'name'?"),
        ("name: ''", "name is not empty, not ''"),
        ("name: 7", "name is a text, not 7"),
        ("system: 7", "system is a text, not 7"),
        ("system: app", "system is written as module:name, not 'app'"),
        ("system: ':answer'", "system is written as module:name, not ':answer'"),
        ("system: 'app:'", "system is written as module:name, not 'app:'"),
        ("models: [x]", "models is a mapping, not a list"),
        ("models: {a: 7}", "models.a is a text or a mapping, not 7"),
        ("models: {a: {}}", "models.a has no 'model': The model, as `provider/model`; a bare name means OpenAI."),
        ("models: {a: {model: x, timeout: 0}}", "timeout is above 0, not 0"),
        ("models: {a: {model: x, concurrency: 1.5}}", "concurrency is a whole number, not 1.5"),
        ("models: {a: {model: x, api_key: secret}}", "unknown key 'api_key' in models.a; did you mean 'api_key_env'?"),
        ("models: {a: {model: x, price: {input: 1}}}", "price has no 'output': For a million tokens that it writes."),
        ("models: {a: {model: x, price: {input: -1, output: 0}}}", "input is at least 0, not -1"),
        ("judges: []", "judges is empty; it lists at least one"),
        ("judges: nobody", "unknown judge 'nobody'; there are no models in this plan (or write provider/model)"),
        ("labels: no.csv", "there is no file 'no.csv' beside the plan"),
        ("budget: 5", "budget is a mapping, not 5"),
        ("budget: {dollars: 5}", "unknown key 'dollars' in budget; expected one of: usd, calls, tokens, minutes"),
        ("budget: {calls: 1.5}", "calls is a whole number, not 1.5"),
        ("budget: {usd: .nan}", "usd is a number, not nan"),
        ("concurrency: 0", "concurrency is at least 1, not 0"),
        ("concurrency: true", "concurrency is a whole number, not True"),
        ("seed: 1.5", "seed is a whole number, not 1.5"),
        ("store_text: 1", "store_text is true or false, not 1"),
        ("gates: {a: b}", "gates is a list, not a mapping"),
        ("gates: [7]", "gates[1] is a text, not 7"),
        ("baseline:", "baseline is a text, not empty"),
    ],
)
def test_a_wrong_key_is_told_with_its_line(problems, line, told):
    assert problems(f"{BASE}{line}\n") == [f"line 4: {told}"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (
            "{}",
            (
                "metrics[1] has no 'name': The metric's name: of a shipped one, "
                "or one of your own with `rubric` or `function`."
            ),
        ),
        ("{name: a, treshold: 0.5}", "unknown key 'treshold' in metrics[1]; did you mean 'threshold'?"),
        ("{name: a, threshold: 1.5}", "threshold is at most 1, not 1.5"),
        ("{name: a, threshold: '0.5'}", "threshold is a number, not '0.5'"),
        ("{name: a, repeats: 0}", "repeats is at least 1, not 0"),
        ("{name: a, quorum: two}", "quorum is a whole number, not 'two'"),
        ("{name: a, rubric: no.md}", "there is no file 'no.md' beside the plan"),
        (
            "{name: a, rubric: polite.md, function: 'a:b'}",
            "metric 'a' has a rubric and a function; it can have one of them",
        ),
        ("{name: a, function: brief}", "function is written as module:name, not 'brief'"),
        ("{name: a, judges: [x]}", "unknown judge 'x'; there are no models in this plan (or write provider/model)"),
        ("{name: a, settings: [1]}", "settings is a mapping, not a list"),
        ("[a]", "metrics[1] is a text or a mapping, not a list"),
    ],
)
def test_a_wrong_metric_is_told_with_its_line(problems, entry, told):
    assert problems(f"version: 1\ndataset: items.csv\nmetrics:\n  - {entry}\n") == [f"line 4: {told}"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("7", "dataset is a text or a mapping, not 7"),
        ("{}", "dataset has no 'path': The file with the items, relative to the plan."),
        ("{path: items.csv, columns: [a]}", "columns is a mapping, not a list"),
        ("{path: items.csv, columns: {query: 7}}", "columns.query is a text, not 7"),
        ("{path: items.csv, clusters: a}", "unknown key 'clusters' in dataset; did you mean 'cluster'?"),
        ("other.csv", "there is no file 'other.csv' beside the plan"),
    ],
)
def test_a_wrong_dataset_is_told_with_its_line(problems, entry, told):
    assert problems(f"version: 1\ndataset: {entry}\nmetrics: [brief]\n") == [f"line 2: {told}"]


def test_problems_stand_in_the_order_of_their_lines_and_ten_are_shown(problems):
    keys = [f"key{n}: 1" for n in range(12)]
    told = problems(BASE + "\n".join(keys))
    assert [text.split(":")[0] for text in told] == [f"line {n}" for n in range(4, 16)]


def test_a_problem_deep_in_the_plan_has_the_line_on_which_it_stands(problems):
    told = problems(
        """\
        version: 1
        dataset: items.csv
        metrics:
          - brief
          -
            name: polite
            rubric: polite.md

            treshold: 0.5
        models:
          main:
            model: openai/x

            # a comment
            tiemout: 3
        """
    )
    assert told == [
        "line 9: unknown key 'treshold' in metrics[2]; did you mean 'threshold'?",
        "line 15: unknown key 'tiemout' in models.main; did you mean 'timeout'?",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: [", 1), ("version: 1\n\tname: x\n", 2), ("version: 1\nname: x\nname: y\n", 3), ("a: b: c", 1), ("'", 1)],
)
def test_what_is_no_yaml_names_its_line(problems, text, line):
    (told,) = problems(text)
    assert told.startswith(f"line {line}: ")


def test_a_plan_that_is_not_utf_8_is_told(tmp_path):
    (tmp_path / "plan.yaml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(InputError, match="cannot read the plan .*plan.yaml: 'utf-8' codec can't decode"):
        read_plan(tmp_path / "plan.yaml")


def test_a_byte_order_mark_is_left_out(tmp_path):
    (tmp_path / "items.csv").write_text("")
    (tmp_path / "plan.yaml").write_text("\ufeff" + BASE, encoding="utf-8")
    assert read_plan(tmp_path / "plan.yaml").name == "plan"


def test_lines_of_keys_gates_metrics_and_models_are_kept(tmp_path):
    (tmp_path / "items.csv").write_text("")
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ndataset: items.csv\nmetrics:\n  - brief\n  - {name: long, function: 'a:b'}\n"
        "models:\n  main: openai/x\ngates:\n  - coverage >= 1\n\n  - brief.score > 0\n"
    )
    plan = read_plan(tmp_path / "plan.yaml")
    assert [metric.line for metric in plan.metrics] == [4, 5]
    assert (plan.models["main"].line, plan.line("gates"), plan.line("gates", 0), plan.line("gates", 1)) == (7, 8, 9, 11)
    assert plan.line("labels") == plan.line("gates", 7) == 1
    assert plan.folder == tmp_path


WORDS = st.text("abcdefgh_", min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*plan_schema()["properties"]]) | WORDS, VALUES, max_size=6))
def test_whatever_a_plan_holds_its_problems_are_told_and_nothing_breaks(document):
    told = findings(document, plan_schema())
    unknown = {key for key in document if key not in plan_schema()["properties"]}
    assert sum("unknown key" in finding.problem and "in the plan" in finding.problem for finding in told) == len(
        unknown
    )
    assert all(finding.line >= 1 and finding.problem for finding in told)


@given(st.integers(0, 5), st.sampled_from(["seed", "concurrency", "store_text", "name"]))
def test_a_problem_moves_with_its_line(blank, key):
    text = "version: 1\ndataset: x.csv\nmetrics: [a]\n" + "\n" * blank + f"{key}: [wrong]\n"
    (finding,) = findings(YAML(typ="rt").load(text), plan_schema())
    assert finding.line == 4 + blank
