"""Metrics that rated nothing: a run with one is inconclusive, and says what to do about the most frequent cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.estimates import Coverage

__all__ = ["REMEDIES", "unrated_text"]

REMEDIES: Mapping[str, str] = {
    "budget_exhausted": "raise the budget, and run it again",
    "interrupted": "run it again; it goes on where it stopped",
    "judge_rate_limited": "lower requests_per_minute to what the provider allows, and run it again",
    "judge_refused": "see what the judge refused (calibrant show --failing), or name another judge",
    "judge_timeout": "see whether the model's server is slow, or lower the concurrency, and run it again",
    "judge_unreachable": "see whether the model's base_url is right and its server runs, and run it again",
    "jury_tied": "add a judge, so that the jury's votes cannot be level",
    "metric_error": "mend what the metric's own code raised (calibrant show --failing), and run it again",
    "missing_extra": "install what the message of the failure names, and run it again",
    "missing_field": "give the dataset the fields that the metric needs (columns: in the plan names them)",
    "model_not_named": "name a judge (judges: [openai/NAME] in the plan), or set CALIBRANT_MODEL",
    "not_applicable": "leave the metric out, if there is nothing for it to rate in this dataset",
    "not_in_store": "replay from the workspace that holds the calls, or ask the model itself",
    "provider_error": "see what the provider says of its state, and run it again",
    "quorum_not_met": "see why the judges failed (calibrant show --failing), or ask for a smaller quorum",
    "reply_truncated": "let the judge write longer replies (max_completion_tokens), or name another judge",
    "reply_unparsable": "name a judge that keeps to the form it is asked for",
    "request_invalid": "see what the provider rejects (calibrant show --failing): the model's name, or an option",
    "score_invalid": "have the metric return a finite number in its range",
    "system_error": "mend what the system raised (calibrant show --failing), and run it again",
    "unauthorized": "set the model's API key in its environment variable, such as OPENAI_API_KEY, and run it again",
    "unsupported": "name a judge that can do what the metric asks of it",
    "verdict_count": "name a judge that gives one verdict for each statement",
}
"""What to do where a failure code is why a metric rated nothing."""


def unrated_text(name: str, coverage: Coverage) -> str:
    """That the metric called `name` rated nothing, with its codes and the remedy of the most frequent; else empty.

    >>> from calibrant.estimates import Coverage
    >>> unrated_text("polite", Coverage(rated=0, failed=6, codes={"jury_tied": 6}))
    "polite: no item was rated (6 jury_tied); add a judge, so that the jury's votes cannot be level"
    """
    if coverage.rated or not coverage.total:
        return ""
    ranked = sorted(coverage.codes.items(), key=lambda entry: (-entry[1], entry[0]))
    told = ", ".join(f"{count} {code}" for code, count in ranked)
    return f"{name}: no item was rated" + (f" ({told}); {REMEDIES[ranked[0][0]]}" if ranked else "")
