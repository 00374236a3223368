"""Rubrics are Markdown with front matter; what is wrong with one is told with its line."""

import pickle

import pytest

from calibrant.errors import InputError, UnknownNameError
from calibrant.metrics import Rubric, RubricExample, read_rubric, rubric_names, rubric_text
from calibrant.metrics.rubric_files import parse_rubric, rubric_markdown

KEYS = ["criterion", "examples", "fields", "labels", "levels", "optional", "polarity", "steps", "threshold"]
POLITE = """---
criterion: polite
fields: [answer]
optional: query
steps:
  - Look for a greeting.
levels:
  3: Polite throughout.
  1: Rude.
  2: Curt.
labels: [rude, curt, polite]
polarity: higher
threshold: 0.75
examples:
  - answer: Hi, you!
    level: 2
    explanation: It greets, and no more.
---

Whether the answer is polite.
"""


def test_a_rubric_has_what_its_file_says():
    rubric = parse_rubric(POLITE, "polite.md")
    assert rubric.criterion == "polite"
    assert rubric.definition == "Whether the answer is polite."
    assert (rubric.fields, rubric.optional) == (("answer",), ("query",))
    assert dict(rubric.levels) == {1: "Rude.", 2: "Curt.", 3: "Polite throughout."}
    assert list(rubric.levels) == [1, 2, 3]
    assert rubric.labels == ("rude", "curt", "polite")
    assert (rubric.higher_is_better, rubric.threshold) == (True, 0.75)
    assert rubric.examples == (
        RubricExample(texts={"answer": "Hi, you!"}, level=2, explanation="It greets, and no more."),
    )


def test_a_rubric_is_read_from_the_users_folder(tmp_path):
    path = tmp_path / "polite.md"
    path.write_text(POLITE, "utf-8")
    assert read_rubric(path) == read_rubric(str(path)) == parse_rubric(POLITE, "polite.md")


def test_windows_line_ends_change_nothing():
    assert parse_rubric(POLITE.replace("\n", "\r\n"), "polite.md") == parse_rubric(POLITE, "polite.md")


def test_without_a_criterion_the_file_names_it(tmp_path):
    path = tmp_path / "kind.md"
    path.write_text(POLITE.replace("criterion: polite\n", ""), "utf-8")
    assert read_rubric(path).criterion == "kind"


@pytest.mark.parametrize("name", rubric_names())
def test_every_shipped_rubric_survives_being_written_and_read(name):
    rubric = read_rubric(name)
    assert parse_rubric(rubric_markdown(rubric), "copy.md") == rubric
    assert parse_rubric(rubric_text(name), name) == rubric
    assert pickle.loads(pickle.dumps(rubric)) == rubric
    assert list(rubric.levels) == [1, 2, 3]
    assert rubric.criterion == name


def test_all_problems_of_a_file_are_told_with_their_lines():
    text = """---
criterion: two words
fields: [answer, "not a field"]
levels: {1: bad}
polarity: up
threshold: 3
colour: red
examples: [{answer: x}]
steps: {a: b}
---
"""
    with pytest.raises(InputError) as caught:
        parse_rubric(text, "rubrics/x.md")
    assert str(caught.value).splitlines() == [
        "rubrics/x.md has 8 problems:",
        "  line 2: criterion is a name of letters, digits, - and _, not 'two words'",
        "  line 3: fields names fields of the item, and 'not a field' can be none",
        "  line 5: polarity is `higher` or `lower` (is better), not 'up'",
        "  line 6: threshold is a number in [0, 1], not 3",
        "  line 7: unknown key 'colour'; the keys are: " + ", ".join(KEYS),
        "  line 8: example 1 needs a `level`, got None",
        "  line 9: steps is a list of texts, not {'a': 'b'}",
        "  there is no text after the front matter: write there what the criterion is",
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("fields: [answer]\n", "", "fields is missing"),
        ("3: Polite throughout.", "three: Polite.", "line 7: levels is a mapping from whole numbers"),
        ("1: Rude.", "1:", "line 7: level 1 says nothing"),
        ("[rude, curt, polite]", "[rude, curt]", "expected 3, got 2"),
        ("[rude, curt, polite]", "[r1, r2, r3]", "label 'r1' must be letters or words: a digit"),
        ("[rude, curt, polite]", "[a, aa, b]", "no label may begin another one, but a does"),
        ("level: 2\n", "level: 7\n", "example 1 has level 7, which is none of [1, 2, 3]"),
        ("  - answer: Hi", "  - reply: Hi", "example 1 has the field 'reply', which the rubric does not name"),
        ("examples:\n", "examples: none\nx:\n", "line 14: examples is a list of mappings"),
        ("[rude, curt, polite]", "[rude, curt]", "line 11: labels name every level once"),
        ("level: 2\n", "level: 7\n", "line 14: example 1 has level 7"),
        ("fields: [answer]", "fields: []", "line 3: fields names at least one field"),
        ("  - Look for a greeting.", "  - ' '", "line 5: steps is a list of texts, and its text 1 is empty"),
        ("answer: Hi, you!", "answer:", "line 14: answer of example 1 is a text or a list of texts, not None"),
        ("answer: Hi, you!", "answer: {a: b}", "line 14: answer of example 1 is a text or a list of texts, not {"),
    ],
)
def test_each_problem_has_words_of_its_own(old, new, problem):
    assert old in POLITE
    with pytest.raises(InputError) as caught:
        parse_rubric(POLITE.replace(old, new), "polite.md")
    assert problem in str(caught.value)


def test_yaml_that_is_none_is_told_with_its_line():
    with pytest.raises(InputError, match=r"polite\.md, line 4: expected"):
        parse_rubric("---\ncriterion: x\nfields: [answer\n---\ntext\n", "polite.md")


def test_a_number_in_an_example_is_its_text():
    rubric = parse_rubric(POLITE.replace("answer: Hi, you!", "answer: 42"), "polite.md")
    assert rubric.examples[0].texts == {"answer": "42"}


@pytest.mark.parametrize("before", ["\ufeff", "\n\n", "\ufeff\r\n"])
def test_a_mark_of_the_byte_order_and_empty_lines_at_the_top_are_passed_over(tmp_path, before):
    path = tmp_path / "polite.md"
    path.write_text(before + POLITE, "utf-8", newline="")
    assert read_rubric(path) == parse_rubric(before + POLITE, "polite.md") == parse_rubric(POLITE, "polite.md")


def test_lines_are_those_of_the_file_also_after_empty_ones_at_the_top():
    with pytest.raises(InputError, match=r"line 15: threshold is a number"):
        parse_rubric("\n\n" + POLITE.replace("0.75", "75"), "polite.md")


@pytest.mark.parametrize(
    ("front", "problem"),
    [
        ("- fields\n- levels\n", r"x\.md, line 2: expected keys and values, got \['fields', 'levels'\]"),
        ("", r"x\.md, line 2: expected keys and values, got None"),
        ("fields: answer\x00\n", r"x\.md is no YAML before its text: unacceptable character #x0000"),
    ],
)
def test_front_matter_that_holds_no_keys_is_an_error_and_no_crash(front, problem):
    with pytest.raises(InputError, match=problem):
        parse_rubric(f"---\n{front}---\nbody\n", "x.md")


def test_more_levels_than_letters_get_labels_of_two_letters():
    levels = {level: f"Level {level}." for level in range(101)}
    labels = Rubric(criterion="x", definition="x", fields=("answer",), levels=levels).labels
    assert (labels[0], labels[26], labels[100]) == ("AA", "BA", "DW")
    assert len(set(labels)) == 101


def test_a_file_without_front_matter_says_what_a_rubric_looks_like():
    with pytest.raises(InputError, match=r"notes\.md is no rubric: it begins with a line ---"):
        parse_rubric("# Notes\n", "notes.md")


def test_front_matter_that_is_a_list_is_no_rubric():
    with pytest.raises(InputError, match=r"x\.md, line 2: expected keys and values, got"):
        parse_rubric("---\njust text\n---\nbody\n", "x.md")


def test_a_file_that_is_not_there_and_a_name_that_is_not_shipped(tmp_path):
    with pytest.raises(InputError, match="cannot read the rubric"):
        read_rubric(tmp_path / "absent.md")
    with pytest.raises(
        UnknownNameError, match="unknown rubric .groundednes.; expected a file of yours .* or one of: coherence, comp"
    ):
        read_rubric("groundednes")


def test_a_rubric_of_one_level_says_nothing():
    with pytest.raises(InputError, match="needs at least two levels"):
        Rubric(criterion="x", definition="x", fields=("answer",), levels={1: "only"})


def test_levels_are_normalised_between_the_lowest_and_the_highest():
    rubric = Rubric(criterion="x", definition="x", fields=("answer",), levels={5: "best", 1: "worst", 2: "poor"})
    assert [rubric.normalised(level) for level in rubric.levels] == [0.0, 0.25, 1.0]
    assert rubric.labels == ("A", "B", "C")
    assert [rubric.level_of(label) for label in rubric.labels] == [1, 2, 5]


def test_the_instructions_have_every_part():
    shown = parse_rubric(POLITE, "polite.md").instructions()
    for part in ("# Criterion: polite", "1. Look for a greeting.", "2: Curt.", "answer: Hi, you!", "(2)", "# The item"):
        assert part in shown
    assert shown.index("`explanation`") < shown.index("`score`")


def test_labelled_instructions_name_the_labels_and_no_digits():
    shown = parse_rubric(POLITE, "polite.md").instructions(labelled=True)
    assert "curt: Curt." in shown
    assert "2: Curt." not in shown
    assert "(curt)" in shown
