"""The groundedness rule finds what a rule can find, and is known not to find the rest."""

import asyncio

import pytest

from calibrant import EvalInput
from calibrant.errors import InputError
from calibrant.metrics import GroundednessRule

CONTEXTS = [
    "The museum in Delft opens at 10 and closes at 17:30. Entry costs 1,250 yen.",
    "Kim Duarte founded it in 1984.",
]


def evaluated(answer, **settings):
    return asyncio.run(GroundednessRule(**settings).evaluate(EvalInput(id="q1", answer=answer, contexts=CONTEXTS)))


@pytest.mark.parametrize(
    "answer",
    [
        "The museum opens at ten.",
        "Opening at 10, it closes at 17:30.",
        "It costs 1250 yen. It was founded by Duarte in 1984.",
        "Kim Duarte's museum is in Delft.",
    ],
)
def test_what_the_contexts_say_is_supported(answer):
    result = evaluated(answer)
    assert (result.score, result.success) == (1.0, True), result.explanation


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("The museum opens at 9.", "the number 9 is not in the contexts"),
        ("The museum opens at eleven.", "the number 11 is not in the contexts"),
        ("The museum in Leiden opens at 10.", "the name Leiden is not in the contexts"),
        ("Photography is forbidden throughout every exhibition.", "5 of its 5 words are not in the contexts"),
    ],
)
def test_what_is_invented_is_told(answer, why):
    result = evaluated(answer)
    assert (result.score, result.success) == (0.0, False)
    assert why in result.explanation


@pytest.mark.parametrize(
    ("answer", "context"),
    [
        ("We met Sean O'Brien there.", "There we met Sean O\u2019Brien."),
        ("Ask D\u2019Artagnan's friends.", "Friends of D'Artagnan ask."),
        ("It is 5% fat.", "It is 5 percent fat."),
        ("It is 5 % fat.", "It is 5% fat."),
        ("1. Press the button.\n2. Wait.", "Press the button, and wait."),
    ],
)
def test_spellings_of_names_numbers_and_lists_are_no_inventions(answer, context):
    result = asyncio.run(GroundednessRule().evaluate(EvalInput(answer=answer, contexts=[context])))
    assert result.score == 1.0, result.explanation


@pytest.mark.parametrize("answer", ["東京は首都。", "กรุงเทพเป็นเมืองหลวง", "東京 (Tokyo) は日本の首都です。"])
def test_a_text_without_spaces_between_words_gets_no_score(answer):
    item = EvalInput(id="q7", answer=answer, contexts=["東京は日本の首都です。"])
    result = asyncio.run(GroundednessRule().evaluate(item))
    assert (result.score, result.status) == (None, "not_applicable")
    assert "the answer of item 'q7' has no spaces between words" in str(result.error)


def test_a_foreign_word_among_english_ones_is_checked_as_a_word():
    item = EvalInput(answer="The city is called 東京 in Japanese.", contexts=["The city is called 東京 in Japanese."])
    assert asyncio.run(GroundednessRule().evaluate(item)).score == 1.0


def test_the_score_is_the_share_of_supported_sentences():
    result = evaluated("The museum opens at ten. It closes at 19:00. Entry costs yen. Founded in 1984.")
    assert (result.score, result.details["statements"], result.details["unsupported"]) == (0.75, 4, 1)


def test_it_cannot_find_a_negation_and_says_so():
    assert evaluated("The museum never opens at ten.").success
    import calibrant.metrics.grounding_rule as module

    assert "it does not find a negation" in module.__doc__


def test_an_answer_without_a_sentence_is_not_applicable():
    assert evaluated(" ... ").status == "not_applicable"


def test_the_share_of_words_can_be_chosen_and_is_part_of_the_instrument():
    assert evaluated("Museum tickets cost yen online.", word_share=0.0).success
    assert not evaluated("Museum tickets cost yen online.", word_share=1.0).success
    assert GroundednessRule(word_share=0.5).instrument != GroundednessRule().instrument
    with pytest.raises(InputError, match="word_share is a share from 0 to 1, not 2"):
        GroundednessRule(word_share=2)
