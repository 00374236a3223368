import pytest

from calibrant.errors import UnknownNameError
from calibrant.retrieval import CONVENTIONS, Conventions


def test_there_are_the_four_conventions_of_known_tools():
    assert sorted(CONVENTIONS) == ["pytrec_eval", "ranx", "seed", "trec_eval"]


def test_the_default_is_trec_eval_with_all_queries_and_double_scores():
    assert Conventions.of().to_json() == {
        "name": "trec_eval",
        "queries": "qrels",
        "ties": "trec",
        "score_dtype": "float64",
        "gain": "linear",
        "on_duplicate": "error",
        "on_nan": "error",
        "precision": "k",
    }


def test_a_changed_policy_is_in_the_name():
    changed = Conventions.of("pytrec_eval", queries="qrels", gain="exponential")
    assert changed.name == "pytrec_eval, queries=qrels, gain=exponential"
    assert (changed.score_dtype, changed.gain) == ("float32", "exponential")


def test_a_policy_that_is_so_already_does_not_change_the_name():
    assert Conventions.of("trec_eval", ties="trec") == Conventions()


def test_short_spellings_are_the_same():
    assert Conventions.of(gain="exp").gain == "exponential"
    assert Conventions.of(ties="rank").ties == "given"


def test_conventions_of_ones_own_are_taken():
    own = Conventions(name="ours", ties="expected")
    assert Conventions.of(own) is not None
    assert Conventions.of(own).name == "ours"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"conventions": "trec"}, "unknown conventions 'trec'; expected one of: pytrec_eval, ranx, seed, trec_eval"),
        ({"ties": "random"}, "unknown ties policy 'random'; expected one of: expected, given, trec"),
        ({"tie": "trec"}, "unknown policy 'tie'; expected one of: gain, on_duplicate, on_nan, precision, queries"),
    ],
)
def test_an_unknown_choice_lists_the_known_ones(given, message):
    with pytest.raises(UnknownNameError) as error:
        Conventions.of(**given)
    assert message in str(error.value)
