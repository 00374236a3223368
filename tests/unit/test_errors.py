import inspect
import re

import pytest

from calibrant import errors
from calibrant.errors import (
    CODES,
    BudgetError,
    EvalError,
    InputError,
    JudgeReplyError,
    MissingExtraError,
    MissingFieldError,
    ModelCallError,
    ModelNotNamedError,
    NotApplicableError,
    QuorumError,
    RatingError,
    UnknownNameError,
    UnlikeRunsError,
    WrongTypeError,
    shortened,
)

CLASSES = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]


@pytest.mark.parametrize("error", CLASSES)
def test_the_drawn_tree_names_every_class_with_its_builtin_base(error):
    line = next(line for line in errors.__doc__.splitlines() if re.search(rf"\b{error.__name__}\b", line))
    for builtin in (ValueError, TypeError, ImportError):
        if builtin in error.__bases__:
            assert f"({builtin.__name__})" in line


@pytest.mark.parametrize("error", CLASSES)
def test_everything_derives_from_one_root(error):
    assert issubclass(error, EvalError)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InputError, ValueError),
        (MissingFieldError, ValueError),
        (UnknownNameError, ValueError),
        (UnlikeRunsError, ValueError),
        (ModelNotNamedError, ValueError),
        (WrongTypeError, TypeError),
        (MissingExtraError, ImportError),
    ],
)
def test_errors_are_also_what_their_interface_promises(error, builtin):
    assert issubclass(error, builtin)


def test_codes_are_stable():
    """A code is stored and counted, so it is never renamed; new ones are added here."""
    assert sorted(CODES) == [
        "budget_exhausted",
        "interrupted",
        "judge_rate_limited",
        "judge_refused",
        "judge_timeout",
        "judge_unreachable",
        "jury_tied",
        "metric_error",
        "missing_extra",
        "missing_field",
        "model_not_named",
        "not_applicable",
        "not_in_store",
        "provider_error",
        "quorum_not_met",
        "reply_truncated",
        "reply_unparsable",
        "request_invalid",
        "score_invalid",
        "system_error",
        "unauthorized",
        "unsupported",
        "verdict_count",
    ]


@pytest.mark.parametrize("code", CODES)
def test_every_code_says_what_it_means(code):
    assert CODES[code].meaning.endswith(".")
    assert CODES[code].status in {"failed", "skipped", "not_applicable"}


def test_problems_are_gathered_and_shown_together():
    error = InputError.gathered("items.csv", [f"line {n}: no query" for n in range(1, 13)])
    assert error.problems[11] == "line 12: no query"
    assert str(error).splitlines()[0] == "items.csv has 12 problems:"
    assert "line 10: no query" in str(error)
    assert "line 11: no query" not in str(error)
    assert str(error).splitlines()[-1] == "  ... and 2 more"


def test_one_problem_is_one_problem():
    error = InputError.gathered("items.csv", ["line 2: no query"])
    assert str(error) == "items.csv has 1 problem:\n  line 2: no query"


def test_an_error_of_one_problem_holds_it():
    assert InputError("no query").problems == ("no query",)


def test_gathering_keeps_the_class():
    assert isinstance(MissingFieldError.gathered("items", ["a: no answer"]), MissingFieldError)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown level 'best'; expected one of: a, b"):
        raise UnknownNameError.among("level", "best", ["b", "a"])


def test_a_missing_extra_says_how_to_install_it():
    error = MissingExtraError("charts", "drawing a chart")
    assert str(error) == "drawing a chart needs an optional part; install it with: pip install 'calibrant[charts]'"
    assert error.extra == "charts"


def test_a_rating_error_carries_a_known_code():
    assert RatingError("no").code == "metric_error"
    with pytest.raises(UnknownNameError, match="unknown failure code 'judge_sleepy'"):
        RatingError("no", code="judge_sleepy")


def test_whether_asking_again_helps_follows_the_code_unless_said():
    assert ModelCallError("slow", code="judge_timeout").retryable
    assert not ModelCallError("slow", code="judge_timeout", retryable=False).retryable
    assert ModelCallError("busy", code="judge_rate_limited", retry_after=2.5).retry_after == 2.5


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotApplicableError("no statements"), "not_applicable"),
        (QuorumError("1 of 3"), "quorum_not_met"),
        (BudgetError("spent"), "budget_exhausted"),
        (ModelNotNamedError(), "model_not_named"),
        (JudgeReplyError("no JSON"), "reply_unparsable"),
        (JudgeReplyError("cut off", code="reply_truncated"), "reply_truncated"),
    ],
)
def test_special_errors_know_their_code(error, code):
    assert error.code == code


def test_no_model_named_says_how_to_name_one():
    assert str(ModelNotNamedError()) == (
        "no judge model was named: pass models=... (for example 'openai/NAME'), write judges: [openai/NAME] into the "
        "plan, or set CALIBRANT_MODEL"
    )
    assert str(ModelNotNamedError("metric polite names no model")) == "metric polite names no model"


def test_long_values_are_shortened():
    assert shortened("x" * 100) == "'" + "x" * 59 + "..."
    assert shortened(7) == "7"
