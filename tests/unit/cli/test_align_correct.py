"""`calibrant align correct` as a user runs it: rates, labels from elsewhere, clusters, and wrong use."""

import json
import random
from pathlib import Path

import pytest

from calibrant.agreement import corrected_rate
from calibrant.cli.group import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(2)
    truth = [draw.random() < 0.8 for _ in range(400)]
    said = [one if draw.random() < 0.9 else not one for one in truth]
    rows = [f"{item},{'pass' if one else 'fail'},customer-{item % 20}" for item, one in enumerate(said)]
    (tmp_path / "judge.csv").write_text("id,verdict,customer\n" + "\n".join(rows) + "\n", encoding="utf-8")
    rows = [f"{item},{'pass' if truth[item] else 'fail'}" for item in range(120)]
    (tmp_path / "human.csv").write_text("id,verdict\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return {"judge": dict(enumerate(said)), "human": dict(enumerate(truth[:120]))}


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["align", "correct", "--judge", "judge.csv", "--human", "human.csv", *arguments])
    return ended.value.code or 0, *capsys.readouterr()


def as_json(capsys, *arguments):
    code, out, _ = run(capsys, "--task", "verdict", "--positive", "pass", "--json", *arguments)
    assert code == 0
    return json.loads(out, parse_constant=pytest.fail)


def test_the_command_says_what_the_function_says(files, capsys):
    expected = corrected_rate(files["judge"], files["human"]).to_json()
    found = as_json(capsys)
    assert found == {"schema": "calibrant.corrected_rate/1", "positive": "pass", **expected}


def test_the_text_has_all_three_rates_and_what_the_labels_are_worth(files, capsys):
    code, out, _ = run(capsys, "--task", "verdict", "--positive", "pass")
    assert code == 0
    lines = out.splitlines()
    assert [line.split("  ")[0] for line in lines[:3]] == ["corrected rate", "judge alone", "labels alone"]
    assert lines[3].startswith("your 120 labels are worth ")


def test_labels_from_elsewhere_take_the_other_method(files, capsys):
    found = as_json(capsys, "--labels-from", "elsewhere")
    assert found["estimate"]["method"] == "rogan-gladen"
    assert found["worth"] is None


def test_labels_that_look_unlike_the_rest_are_warned_about_with_the_option_to_say_so(files, capsys, tmp_path):
    rows = [line for line in (tmp_path / "judge.csv").read_text().splitlines()[121:] if ",fail," not in line]
    head = (tmp_path / "judge.csv").read_text().splitlines()[:121]
    (tmp_path / "judge.csv").write_text("\n".join([*head, *rows]) + "\n")
    found = as_json(capsys)
    assert any("say --labels-from elsewhere" in warning for warning in found["warnings"])
    assert "labels_from=" not in str(found["warnings"])


def test_clusters_are_counted_by_a_column_of_the_judge(files, capsys):
    clusters = {item: f"customer-{item % 20}" for item in files["judge"]}
    expected = corrected_rate(files["judge"], files["human"], clusters=clusters)
    code, out, _ = run(capsys, "--positive", "pass", "--cluster", "customer", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["estimate"]["lower"] == expected.estimate.lower
    assert found["estimate"] != as_json(capsys)["estimate"]


def test_the_level_of_the_interval_may_be_said(files, capsys):
    wide, narrow = as_json(capsys, "--level", "0.99")["estimate"], as_json(capsys, "--level", "0.8")["estimate"]
    assert wide["lower"] < narrow["lower"] < narrow["upper"] < wide["upper"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--positive", "pass"], "judge.csv has answers to verdict, customer; name one with --task"),
        (["--task", "verdict", "--positive", "good"], "nobody answered 'good'; --positive is one of: fail, pass"),
        (["--task", "verdikt", "--positive", "pass"], "unknown task 'verdikt'"),
        (["--cluster", "client", "--task", "verdict", "--positive", "pass"], "judge.csv has no column 'client'"),
        (["--labels-from", "nowhere"], "'nowhere' is not one of 'same_traffic', 'elsewhere'"),
    ],
)
def test_wrong_use_says_what_there_is(files, capsys, arguments, words):
    code, out, error = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in error


def test_labels_that_share_no_item_with_the_judge_are_inconclusive(files, capsys, tmp_path):
    (tmp_path / "human.csv").write_text("id,verdict\nx1,pass\nx2,fail\n", encoding="utf-8")
    code, out, _ = run(capsys, "--task", "verdict", "--positive", "pass")
    assert code == 3
    assert "no estimate: there is no label on an item that was judged" in out
    assert "warning: 2 labelled items were not judged, and left out" in out


def written(name, rows):
    Path(name).write_text("id,verdict\n" + "".join(f"{item},{answer}\n" for item, answer in rows), encoding="utf-8")


def test_truth_values_are_the_same_however_a_file_spells_them(files, capsys):
    rows = [json.dumps({"id": item, "verdict": one}) + "\n" for item, one in files["judge"].items()]
    Path("judge.jsonl").write_text("".join(rows), encoding="utf-8")
    written("human.csv", files["human"].items())
    with pytest.raises(SystemExit) as ended:
        main(["align", "correct", "--judge", "judge.jsonl", "--human", "human.csv", "--positive", "True", "--json"])
    assert not ended.value.code
    found = json.loads(capsys.readouterr().out)
    assert found["estimate"] == corrected_rate(files["judge"], files["human"]).to_json()["estimate"]


def test_answers_that_have_nothing_in_common_are_no_rate_of_zero(files, capsys):
    written("human.csv", [(item, "PASS" if one else "FAIL") for item, one in files["human"].items()])
    code, _, err = run(capsys, "--task", "verdict", "--positive", "pass")
    assert code == 2
    assert "one answer is written as 'PASS' and 'pass'; write it in one way" in err


def test_answers_that_differ_by_a_capital_are_refused_where_they_count_and_else_warned_about(files, capsys):
    said = {item: "pass" if one else "fail" for item, one in files["human"].items()}
    odd = next(item for item, one in said.items() if one == "fail")
    written("human.csv", {**said, odd: "Fail"}.items())
    code, out, _ = run(capsys, "--task", "verdict", "--positive", "pass")
    assert code == 0
    assert "warning: 'Fail' and 'fail' differ only in case or spaces, and count as different labels" in out
    code, _, err = run(capsys, "--task", "verdict", "--positive", "fail")
    assert code == 2
    assert "one answer is written as 'Fail' and 'fail'; write it in one way, since only 'fail' is counted" in err


@pytest.mark.parametrize("level", ["95", "0", "1"])
def test_a_level_that_is_none_is_named(files, capsys, level):
    code, _, err = run(capsys, "--task", "verdict", "--positive", "pass", "--level", level)
    assert code == 2
    assert f"level must lie between 0 and 1, not {float(level)}" in err


def test_no_label_at_all_is_said_in_words_and_by_the_exit_code(files, capsys):
    written("human.csv", [])
    code, out, _ = run(capsys, "--task", "verdict", "--positive", "pass")
    assert code == 3
    assert "there is no label on an item that was judged, so nothing could be corrected" in out


def test_items_on_which_people_are_tied_are_counted_and_named(files, capsys):
    people = {"kim": files["human"], "lee": {**files["human"], 3: not files["human"][3], 5: not files["human"][5]}}
    rows = [f"{item},{who},{'pass' if one else 'fail'}\n" for who, said in people.items() for item, one in said.items()]
    Path("human.csv").write_text("id,annotator_id,verdict\n" + "".join(rows), encoding="utf-8")
    found = as_json(capsys)
    assert found["labels"] == 118
    assert found["warnings"] == ["people are tied on 2 items, which count as not labelled: 3, 5"]
