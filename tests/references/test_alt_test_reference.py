"""The alternative annotator test against its definition, written out item by item.

Calderon, Reichart and Dror, The Alternative Annotator Test for LLM-as-a-Judge (ACL 2025), section 3: leave out each
annotator in turn; W_f and W_h are 1 where the judge, and the annotator, score at least as well against the rest; a
one-sample t-test (scipy 1.17.1) asks whether their difference is below epsilon; Benjamini-Yekutieli over annotators
(scipy 1.17.1, false_discovery_control). Items with fewer than two annotators are left out, and annotators with fewer
than thirty items are not tested.
"""

import math
import random

import pytest
from scipy.stats import false_discovery_control, ttest_1samp

from calibrant.agreement import AltTestSettings, alt_test


def accuracy(answer, rest):
    return sum(answer == other for other in rest) / len(rest)


def neg_rmse(answer, rest):
    return -math.sqrt(sum((answer - other) ** 2 for other in rest) / len(rest))


def jaccard(answer, rest):
    return sum(len(answer & other) / len(answer | other) if answer | other else 1.0 for other in rest) / len(rest)


def by_definition(judge, people, score, epsilon, multiplicative):
    kept = [item for item in judge if sum(item in answers for answers in people.values()) >= 2]
    p_values, rates = {}, {}
    for name, answers in people.items():
        items = [item for item in kept if item in answers]
        if len(items) < 30:
            continue
        judge_wins, person_wins = [], []
        for item in items:
            rest = [other[item] for who, other in people.items() if who != name and item in other]
            of_judge, of_person = score(judge[item], rest), score(answers[item], rest)
            judge_wins.append(float(of_judge >= of_person))
            person_wins.append(float(of_person >= of_judge))
        factor = 1 / (1 - epsilon) if multiplicative else 1.0
        differences = [mine - factor * its for mine, its in zip(person_wins, judge_wins, strict=True)]
        p_values[name] = ttest_1samp(differences, 0.0 if multiplicative else epsilon, alternative="less").pvalue
        rates[name] = [sum(judge_wins) / len(items), sum(person_wins) / len(items)]
    adjusted = dict(zip(p_values, false_discovery_control(list(p_values.values()), method="by"), strict=True))
    return p_values, adjusted, rates


DRAWS = {
    "labels": (lambda draw: draw.choice("abcd"), accuracy),
    "numbers": (lambda draw: float(draw.randint(1, 5)), neg_rmse),
    "sets": (lambda draw: frozenset(draw.sample("xyz", draw.randint(0, 2))), jaccard),
}


@pytest.mark.parametrize("multiplicative", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.25])
@pytest.mark.parametrize("kind", DRAWS)
def test_the_closed_form_is_the_definition(kind, epsilon, multiplicative):
    answer, score = DRAWS[kind]
    draw = random.Random(f"{kind} {epsilon}")
    truth = {str(item): answer(draw) for item in range(90)}

    def rater(right, missing):
        kept = [item for item in truth if draw.random() >= missing]
        return {item: truth[item] if draw.random() < right else answer(draw) for item in kept}

    people = {f"h{number}": rater(0.75, 0.35) for number in range(5)} | {"rare": rater(0.8, 0.8)}
    judge = rater(0.8, 0.05)
    p_values, adjusted, rates = by_definition(judge, people, score, epsilon, multiplicative)
    settings = AltTestSettings(epsilon=epsilon, multiplicative=multiplicative)
    found = alt_test({"judge": judge, **people}, "judge", settings=settings)
    assert {one.annotator: one.p for one in found.annotators} == pytest.approx(p_values, abs=1e-12)
    assert {one.annotator: one.p_by for one in found.annotators} == pytest.approx(adjusted, abs=1e-12)
    for name, pair in rates.items():
        assert found.human_advantage_probabilities[name] == pytest.approx(pair)
    wins = sum(p <= 0.05 for p in adjusted.values()) / len(adjusted)
    assert found.winning_rate_at_epsilon == pytest.approx(wins)
    assert "rare" in found.dropped_annotators
