"""Every exception that Calibrant raises, and every code that a failure may carry.

::

    EvalError
    ├── InputError (ValueError)            what the user gave is wrong; all problems of one input together
    │   └── MissingFieldError              an item lacks a field that the metric needs
    ├── WrongTypeError (TypeError)         a value of the wrong kind was passed
    ├── UnknownNameError (ValueError)      a name is not one of those that exist
    ├── MissingExtraError (ImportError)    an optional part is not installed
    ├── StoreError                         the workspace cannot be read or written
    ├── UnlikeRunsError (ValueError)       two runs were measured differently and are not compared
    └── RatingError                        ends as a `Failure` with its code, never as a score
        ├── NotApplicableError             there was nothing to rate
        ├── QuorumError                    too few judges of a jury answered
        ├── BudgetError                    the call would pass the budget, and was not made
        ├── ScoreError (ValueError)        a score came back that is no finite number in its range
        └── ModelCallError                 a call to a model failed
            ├── ModelNotNamedError (ValueError)   no model was named, and there is no default
            └── JudgeReplyError            the model answered, but not what was asked

Where an interface promises ValueError or TypeError, the class here derives from it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "CODES",
    "BudgetError",
    "CodeMeaning",
    "EvalError",
    "InputError",
    "JudgeReplyError",
    "MissingExtraError",
    "MissingFieldError",
    "ModelCallError",
    "ModelNotNamedError",
    "NotApplicableError",
    "QuorumError",
    "RatingError",
    "ScoreError",
    "Status",
    "StoreError",
    "UnknownNameError",
    "UnlikeRunsError",
    "WrongTypeError",
    "counted",
    "shortened",
    "suggestion",
]

Status = Literal["rated", "failed", "skipped", "not_applicable"]


class CodeMeaning(NamedTuple):
    """What a failure code says: how the rating is counted, whether asking again may help, and why it happened."""

    status: Status
    retryable: bool
    meaning: str


CODES: dict[str, CodeMeaning] = {
    "budget_exhausted": CodeMeaning("skipped", False, "The call would have passed the budget, so it was not made."),
    "interrupted": CodeMeaning("skipped", True, "The run was stopped before this item's turn came."),
    "judge_rate_limited": CodeMeaning("failed", True, "The provider kept refusing for too many requests (HTTP 429)."),
    "judge_refused": CodeMeaning("failed", False, "The model refused to answer, or its content filter did."),
    "judge_timeout": CodeMeaning("failed", True, "The model did not answer in time."),
    "judge_unreachable": CodeMeaning("failed", True, "No connection to the model, or it was cut, on every attempt."),
    "jury_tied": CodeMeaning("failed", False, "The judges of a jury were level between labels, and ties abstain."),
    "metric_error": CodeMeaning("failed", False, "The metric's own code raised an exception."),
    "missing_extra": CodeMeaning("failed", False, "An optional part is not installed."),
    "missing_field": CodeMeaning("skipped", False, "The item lacks a field that the metric needs; nobody was asked."),
    "model_not_named": CodeMeaning("failed", False, "No model was named, and CALIBRANT_MODEL is not set."),
    "not_applicable": CodeMeaning("not_applicable", False, "There was nothing to rate in this item."),
    "not_in_store": CodeMeaning("failed", False, "A replay asked for a call that the store does not hold."),
    "provider_error": CodeMeaning("failed", True, "The provider answered with a server error on every attempt."),
    "quorum_not_met": CodeMeaning("failed", False, "Too few judges of the jury gave a valid answer."),
    "reply_truncated": CodeMeaning("failed", True, "The reply was cut off, also when it was asked for again."),
    "reply_unparsable": CodeMeaning("failed", True, "The reply was not what was asked for, also when asked again."),
    "request_invalid": CodeMeaning("failed", False, "The provider rejected the request itself (HTTP 4xx)."),
    "score_invalid": CodeMeaning("failed", False, "The metric returned a score that is not a finite number in range."),
    "system_error": CodeMeaning("failed", False, "The system under test raised an exception for this item."),
    "unauthorized": CodeMeaning("failed", False, "The provider rejected the key, or none was given."),
    "unsupported": CodeMeaning("failed", False, "The model or its provider cannot do what was asked of it."),
    "verdict_count": CodeMeaning("failed", False, "The judge gave more or fewer verdicts than there were statements."),
}
"""Every failure code. Codes are stable: they are stored, counted in reports, and never change their meaning."""

SHOWN_PROBLEMS = 10


def shortened(value: object, limit: int = 60) -> str:
    """`value` as it would be printed in an error, cut to `limit` characters.

    >>> shortened("a long reply", limit=6)
    "'a lon..."
    """
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}..."


def counted(number: int, one: str, many: str = "") -> str:
    """`number` with what it counts: `one`, or `many` of it, which is `one` with an s unless named.

    >>> counted(1, "item"), counted(0, "item"), counted(1200, "query is", "queries are")
    ('1 item', '0 items', '1,200 queries are')
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def suggestion(name: str, known: Sequence[str]) -> str:
    """A remedy for a name that is not known: the nearest that is, or all of them.

    >>> suggestion("treshold", ["name", "threshold"]), suggestion("colour", ["name", "threshold"])
    ("did you mean 'threshold'?", 'expected one of: name, threshold')
    """
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"expected one of: {', '.join(known)}"


class EvalError(Exception):
    """The root of everything that Calibrant raises on purpose."""


class InputError(EvalError, ValueError):
    """What the user gave is wrong. `problems` holds every one that was found, not only the first."""

    problems: tuple[str, ...]

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems) or (message,)

    @classmethod
    def gathered(cls, what: str, problems: Iterable[str]) -> Self:
        """One error for all `problems` of `what`; the first ten are shown, the rest are counted.

        >>> print(InputError.gathered("items.csv", ["line 2: no query", "line 9: no query"]))
        items.csv has 2 problems:
          line 2: no query
          line 9: no query
        """
        found = list(problems)
        shown = [f"  {problem}" for problem in found[:SHOWN_PROBLEMS]]
        if len(found) > SHOWN_PROBLEMS:
            shown.append(f"  ... and {len(found) - SHOWN_PROBLEMS} more")
        count = "1 problem" if len(found) == 1 else f"{len(found)} problems"
        return cls("\n".join([f"{what} has {count}:", *shown]), found)


class MissingFieldError(InputError):
    """An item lacks a field that the metric needs."""


class WrongTypeError(EvalError, TypeError):
    """A value of the wrong kind was passed."""


class UnknownNameError(EvalError, ValueError):
    """A name is not one of those that exist; the message lists them."""

    @classmethod
    def among(cls, what: str, name: object, known: Iterable[str]) -> Self:
        """The error for `name`, which is no known `what`.

        >>> print(UnknownNameError.among("aggregation method", "mode", ["median", "average"]))
        unknown aggregation method 'mode'; expected one of: average, median
        """
        return cls(f"unknown {what} {shortened(name)}; expected one of: {', '.join(sorted(known))}")


class MissingExtraError(EvalError, ImportError):
    """An optional part is not installed; the message is the command that installs it."""

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs an optional part; install it with: pip install 'calibrant[{extra}]'")
        self.extra = extra


class StoreError(EvalError):
    """The workspace cannot be read or written."""


class UnlikeRunsError(EvalError, ValueError):
    """Two runs were measured by unlike instruments or on unlike data, and are not compared."""


class RatingError(EvalError):
    """A rating could not be made. It ends as a `Failure` with this `code`, never as a score."""

    code: str
    retryable: bool

    def __init__(self, message: str, *, code: str = "metric_error", retryable: bool | None = None) -> None:
        super().__init__(message)
        meaning = CODES.get(code)
        if meaning is None:
            raise UnknownNameError.among("failure code", code, CODES)
        self.code = code
        self.retryable = meaning.retryable if retryable is None else retryable


class NotApplicableError(RatingError):
    """There was nothing to rate in this item."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="not_applicable")


class QuorumError(RatingError):
    """Too few judges of a jury gave a valid answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="quorum_not_met")


class BudgetError(RatingError):
    """The call would have passed the budget, so it was not made."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="budget_exhausted")


class ScoreError(RatingError, ValueError):
    """A score came back that is no finite number in its range."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="score_invalid")


class ModelCallError(RatingError):
    """A call to a model failed; `code` says how, `retry_after` what the provider asked for, in seconds."""

    retry_after: float | None

    def __init__(
        self, message: str, *, code: str, retryable: bool | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, code=code, retryable=retryable)
        self.retry_after = retry_after


class ModelNotNamedError(ModelCallError, ValueError):
    """No model was named, and there is no default."""

    def __init__(self, message: str | None = None) -> None:
        remedy = (
            "no judge model was named: pass models=... (for example 'openai/NAME'), write judges: [openai/NAME] into "
            "the plan, or set CALIBRANT_MODEL"
        )
        super().__init__(message or remedy, code="model_not_named")


class JudgeReplyError(ModelCallError):
    """The model answered, but not what was asked. `reply` is what it said, `usage` what that took, where known."""

    reply: str
    usage: Any

    def __init__(self, message: str, *, code: str = "reply_unparsable", reply: str = "", usage: Any = None) -> None:
        super().__init__(message, code=code)
        self.reply = reply
        self.usage = usage
