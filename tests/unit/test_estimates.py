import json
import pickle

import numpy as np
import pytest

from calibrant import Coverage, Estimate
from calibrant.errors import InputError

COVERAGE = Coverage(rated=397, failed=3, codes={"judge_timeout": 3})


def estimate(**changes):
    given = {"value": 0.8111, "lower": 0.7697, "upper": 0.8465, "method": "wilson", "coverage": COVERAGE}
    return Estimate(**{**given, **changes})


def test_an_estimate_prints_value_interval_n_and_failures():
    assert str(estimate(value=0.811, lower=0.770, upper=0.847)) == "0.811 [0.770, 0.847] n=397, 3 failed"


def test_skipped_and_not_applicable_are_printed_apart():
    shown = estimate(coverage=Coverage(rated=5, skipped=2, not_applicable=1))
    assert str(shown).endswith("n=5, 2 skipped, 1 not applicable")


def test_the_numbers_can_be_formatted():
    assert f"{estimate():.1%}" == "81.1% [77.0%, 84.7%] n=397, 3 failed"
    assert f"{estimate()}" == str(estimate())


def test_a_one_sided_bound_is_open_on_the_other_side():
    assert str(estimate(upper=None)) == "0.811 [0.770, inf] n=397, 3 failed"
    assert str(estimate(lower=None)) == "0.811 [-inf, 0.847] n=397, 3 failed"


def test_an_exact_number_has_no_interval():
    assert str(estimate(value=2.0, lower=None, upper=None)) == "2.000 n=397, 3 failed"


def test_an_estimate_that_cannot_be_made_says_why():
    missing = Estimate.missing("both raters are constant", method="kappa", coverage=Coverage(rated=4))
    assert missing.value is None
    assert str(missing) == "no estimate: both raters are constant (n=4)"


def test_no_value_without_a_reason():
    with pytest.raises(InputError, match="an estimate without a value needs a reason"):
        Estimate(value=None, method="mean", coverage=COVERAGE)


@pytest.mark.parametrize("name", ["value", "lower", "upper"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_nan_and_infinity_never_get_in(name, number):
    with pytest.raises(InputError, match=f"the {name} of an estimate is a finite number or None, not {number}"):
        estimate(**{name: number})


def test_an_upside_down_interval_is_refused():
    with pytest.raises(InputError, match=r"the interval is upside down: \[0.9, 0.8465\]"):
        estimate(lower=0.9)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_a_probability(level):
    with pytest.raises(InputError, match="level is a probability between 0 and 1"):
        estimate(level=level)


def test_json_has_the_agreed_keys_and_no_nan():
    data = estimate(worst_case=(0.805, 0.8125)).to_json()
    assert list(data) == ["value", "lower", "upper", "level", "method", "n", "coverage", "worst_case", "reason"]
    assert data["n"] == 397
    assert data["coverage"] == {
        "rated": 397,
        "failed": 3,
        "skipped": 0,
        "not_applicable": 0,
        "codes": {"judge_timeout": 3},
    }
    assert data["worst_case"] == [0.805, 0.8125]
    assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize(
    "one",
    [
        estimate(),
        estimate(worst_case=(0.1, 0.9)),
        Estimate.missing("nothing to rate", method="mean", coverage=Coverage(rated=0)),
    ],
)
def test_json_and_pickle_bring_the_same_estimate_back(one):
    assert Estimate.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert pickle.loads(pickle.dumps(one)) == one
    assert hash(pickle.loads(pickle.dumps(one))) == hash(one)


def test_estimates_are_equal_by_content():
    assert estimate() == estimate()
    assert estimate() != estimate(method="jeffreys")


def test_numbers_of_other_libraries_become_plain_ones():
    import numpy as np

    assert type(estimate(value=np.float64(0.8)).value) is float


def test_worst_case_counts_failures_as_fails_and_as_passes():
    low, high = COVERAGE.worst_case(0.8111)
    assert round(low, 3) == 0.805
    assert round(high, 4) == 0.8125


def test_worst_case_of_a_scale_takes_its_ends():
    assert Coverage(rated=1, failed=1).worst_case(2.0, low=1.0, high=3.0) == (1.5, 2.5)


def test_worst_case_when_nothing_was_rated_is_the_whole_scale():
    assert Coverage(rated=0, failed=0).worst_case(0.5) == (0.0, 1.0)
    assert Coverage(rated=0, failed=4).worst_case(0.5) == (0.0, 1.0)


def test_worst_case_ignores_what_was_not_applicable():
    assert Coverage(rated=10, not_applicable=90).worst_case(0.5) == (0.5, 0.5)


def test_coverage_adds_up():
    total = COVERAGE + Coverage(rated=3, failed=1, skipped=2, codes={"judge_timeout": 1, "missing_field": 2})
    assert total == Coverage(rated=400, failed=4, skipped=2, codes={"judge_timeout": 4, "missing_field": 2})
    assert total.total == 406


def test_coverage_of_outcomes_counts_each_status_and_code():
    outcomes = [("rated", None), ("failed", "judge_timeout"), ("skipped", "missing_field"), ("rated", None)]
    assert Coverage.of(outcomes) == Coverage(
        rated=2, failed=1, skipped=1, codes={"judge_timeout": 1, "missing_field": 1}
    )


def test_the_share_rated_leaves_out_what_was_not_applicable():
    assert Coverage(rated=8, failed=1, skipped=1, not_applicable=5).share == 0.8
    assert Coverage(rated=0, not_applicable=5).share is None


def test_coverage_prints_its_codes():
    assert str(COVERAGE) == "397 rated, 3 failed (3 judge_timeout)"
    assert str(Coverage(rated=4)) == "4 rated"


def test_coverage_is_immutable_and_hashable():
    with pytest.raises(TypeError):
        COVERAGE.codes["judge_timeout"] = 4
    assert hash(COVERAGE) == hash(Coverage(rated=397, failed=3, codes={"judge_timeout": 3}))
    assert pickle.loads(pickle.dumps(COVERAGE)) == COVERAGE


def test_negative_counts_are_refused():
    with pytest.raises(InputError, match="failed counts items and cannot be -1"):
        Coverage(rated=1, failed=-1)


def test_counts_of_other_libraries_become_plain_ones_and_parts_of_items_are_refused():
    assert json.dumps(Coverage(rated=np.int64(3)).to_json()).startswith('{"rated": 3,')
    for wrong in (1.5, "3", None):
        with pytest.raises(InputError, match=f"rated counts items and cannot be {wrong}"):
            Coverage(rated=wrong)
