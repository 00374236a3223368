"""`--conventions`, `--policy` and `-m`: each changes what it says, and the help says what there is."""

import json
from typing import get_args

import pytest

from calibrant.cli import main
from calibrant.cli.policies import CHOICES, in_options, policies_of
from calibrant.errors import InputError, UnknownNameError
from calibrant.retrieval.conventions import CONVENTIONS, POLICY_TYPES


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 c 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 1.0 t\nq1 Q0 b 2 1.0 t\nq1 Q0 x 3 1.0 t\n")

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(["retrieval", *arguments])
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return run


def measured(run, measure, *options):
    code, out, _ = run("eval", "qrels.txt", "run.txt", "-m", measure, "--json", *options)
    assert code == 0
    ((name, estimate),) = json.loads(out)["rankings"][0]["measures"].items()
    return name, estimate["value"]


@pytest.mark.parametrize(
    ("measure", "policy", "before", "after"),
    [
        ("RR", "queries=intersection", 1 / 4, 1 / 2),
        ("P@1", "ties=given", 0.0, 1 / 2),
        ("P@1", "ties=expected", 0.0, (2 / 3) / 2),
        ("P@10", "precision=retrieved", 0.1, (2 / 3) / 2),
    ],
)
def test_each_policy_changes_what_it_says(run, measure, policy, before, after):
    assert measured(run, measure)[1] == pytest.approx(before)
    assert measured(run, measure, "--policy", policy)[1] == pytest.approx(after)


def test_the_gain_and_the_precision_of_scores_are_policies_too(run, tmp_path):
    assert measured(run, "nDCG@3", "--policy", "gain=exponential")[1] < measured(run, "nDCG@3")[1]
    (tmp_path / "run.txt").write_text("q1 Q0 a 1 0.1000000000001 t\nq1 Q0 x 2 0.1 t\n")
    assert measured(run, "P@1")[1] == 0.5
    assert measured(run, "P@1", "--policy", "score_dtype=float32")[1] == 0.0


def test_policies_for_what_is_wrong_in_a_file(run, tmp_path):
    (tmp_path / "run.txt").write_text("q1 Q0 x 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 x 3 1 t\nq1 Q0 b 4 nan t\n")
    assert run("eval", "qrels.txt", "run.txt")[0] == 2
    assert run("eval", "qrels.txt", "run.txt", "--policy", "on_nan=drop")[0] == 2
    assert measured(run, "RR", "--policy", "on_nan=drop", "--policy", "on_duplicate=first")[1] == 0.25
    assert measured(run, "RR", "--policy", "on_nan=drop", "--policy", "on_duplicate=last")[1] == 0.5


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg", "nDCG"),
        ("map", "AP"),
        ("map_cut_5", "AP@5"),
        ("P_10", "P@10"),
        ("recall_100", "R@100"),
        ("recip_rank", "RR"),
        ("success_1", "Success@1"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_F", "SetF1"),
        ("Rprec", "Rprec"),
        ("bpref", "bpref"),
    ],
)
def test_trec_evals_names_of_measures_are_understood(run, written, name):
    assert measured(run, written)[0] == name


@pytest.mark.parametrize("written", ["ndcg_cut_", "P_0", "ndcg_cut_10_20", "success_x", "recip_rank_"])
def test_what_only_looks_like_one_is_refused(run, written):
    code, _, err = run("eval", "qrels.txt", "run.txt", "-m", written)
    assert code == 2
    assert err.startswith("error: ")


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_conventions_of_every_tool_are_there_by_name(run, name):
    _, out, _ = run("eval", "qrels.txt", "run.txt", "-m", "RR", "--conventions", name)
    assert f"conventions: {name} (queries=" in out


def test_a_changed_set_is_named_with_its_change(run):
    _, out, _ = run("eval", "qrels.txt", "run.txt", "--conventions", "ranx", "--policy", "gain=exp")
    assert "conventions: ranx, gain=exponential (queries=qrels, ties=given" in out


def test_the_help_lists_every_policy_with_all_its_choices(run):
    listed = [f"{name}={'|'.join(get_args(hint))}" for name, hint in POLICY_TYPES.items()]
    assert sorted(CHOICES.split(", ")) == sorted(listed)
    for command in ("eval", "compare"):
        _, out, _ = run(command, "--help")
        words = " ".join(out.split())
        assert all(choice in words for choice in listed)
        assert all(name in words for name in CONVENTIONS)
        assert f"calibrant retrieval {command} qrels.txt bm25.run" in words


def test_texts_become_policies_and_repeated_equal_ones_are_one():
    assert policies_of([]) == {}
    assert policies_of(["ties=given", " gain = linear", "ties=given"]) == {"ties": "given", "gain": "linear"}


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        (["ties"], InputError, "--policy takes NAME=VALUE, for example ties=expected, not 'ties'"),
        (["=given"], UnknownNameError, "unknown policy ''; expected one of: gain, on_duplicate"),
        (["ties=given", "ties=trec"], InputError, "--policy ties is there twice: 'given' and 'trec'"),
    ],
)
def test_a_text_that_is_no_policy_says_what_is_wrong(texts, error, message):
    with pytest.raises(error) as raised:
        policies_of(texts)
    assert message in str(raised.value)


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_an_error_names_the_option_and_not_the_argument_of_python(run, tmp_path, command):
    (tmp_path / "twice.txt").write_text("q1 Q0 a 1 2.0 t\nq1 Q0 a 2 1.0 t\n")
    code, _, err = run(command, "qrels.txt", "run.txt", "twice.txt")
    assert code == 2
    assert "query 'q1' has document 'a' 2 times; " in err
    assert "pass --policy on_duplicate=first or --policy on_duplicate=last to keep one" in err
    assert 'on_duplicate="' not in err
    code, out, _ = run("eval", "qrels.txt", "twice.txt", "--policy", "on_duplicate=first", "-m", "RR", "--json")
    assert (code, json.loads(out)["rankings"][0]["measures"]["RR"]["n"]) == (0, 2)


def test_a_score_that_is_no_number_names_the_option_that_drops_it(run, tmp_path):
    (tmp_path / "nan.run").write_text("q1 Q0 a 1 nan t\nq2 Q0 c 1 1.0 t\n")
    code, _, err = run("eval", "qrels.txt", "nan.run")
    assert code == 2
    assert "--policy on_nan=drop" in err
    assert run("eval", "qrels.txt", "nan.run", "--policy", "on_nan=drop")[0] == 0


def test_a_measure_without_an_expected_value_names_the_option():
    assert in_options("use ties='trec'") == "use --policy ties=trec"
    assert in_options("ties='trec' or on_nan=\"drop\"") == "--policy ties=trec or --policy on_nan=drop"
    assert in_options("query 'ties=trec' is unknown") == "query 'ties=trec' is unknown"
