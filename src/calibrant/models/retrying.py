"""A call that failed for a passing reason is made again, later; a provider that is down is found out once."""

from __future__ import annotations

from typing import Final

from calibrant.errors import InputError, JudgeReplyError, ModelCallError
from calibrant.models.clocks import Clock
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request

__all__ = ["RetriedInvoker", "retried"]

DOWN_CODES: Final = frozenset({"judge_unreachable", "judge_timeout", "provider_error", "unauthorized"})
REFUSING_CODES: Final = frozenset({"judge_refused", "request_invalid"})
DOWN_AFTER: Final = 16
PROBE_SECONDS: Final = 5.0


class Outage:
    """Whether the provider is down: so many failures in a row, over so long, and not one good reply between."""

    def __init__(self, clock: Clock, patience: float) -> None:
        self._clock = clock
        self._patience = patience
        self._failures = 0
        self._since = 0.0
        self._probe_at = 0.0
        self._last: ModelCallError | None = None

    def over(self) -> None:
        """The provider answered."""
        self._failures = 0
        self._last = None

    def failed(self, error: ModelCallError) -> None:
        """The provider did not answer; one that refuses this request, or too many, is not down."""
        if error.code in REFUSING_CODES:
            self.over()
        if error.code not in DOWN_CODES:
            return
        now = self._clock.now()
        self._since = self._since if self._failures else now
        self._failures += 1
        patience = 0.0 if error.code == "unauthorized" else self._patience
        if self._last is None and self._failures >= DOWN_AFTER and now - self._since >= patience:
            self._probe_at = now + PROBE_SECONDS
            self._last = error

    def refuse(self) -> None:
        """Raise while the provider is down; one call in a few seconds goes through, to see whether it is back."""
        if self._last is None:
            return
        now = self._clock.now()
        if now >= self._probe_at:
            self._probe_at = now + PROBE_SECONDS
            return
        raise ModelCallError(
            f"{self._last}; not asked, because all of the last {self._failures} calls failed, over "
            f"{now - self._since:.0f} s",
            code=self._last.code,
        )

    @property
    def lasts(self) -> bool:
        """Whether the provider is taken to be down."""
        return self._last is not None


class RetriedInvoker(InvokerWrapper):
    """The model inside, asked again after failures that pass: exponentially later, with jitter, or when it says."""

    def __init__(
        self,
        inner: BaseLMInvoker,
        *,
        attempts: int = 8,
        first_wait: float = 0.5,
        longest_wait: float = 60.0,
        patience: float = 20.0,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(inner)
        numbers = (attempts, first_wait, longest_wait, patience)
        wrong = any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers)  # pyright: ignore[reportUnnecessaryIsInstance] - plans pass anything
        if wrong or not (attempts >= 1 and 0 <= first_wait <= longest_wait and patience >= 0):
            raise InputError("retries need at least 1 attempt, and waits that are 0 or more, the longest last")
        self.attempts = attempts
        self.first_wait = first_wait
        self.longest_wait = longest_wait
        self._clock = clock or Clock()
        self._outage = Outage(self._clock, patience)
        self._answered = 0

    async def invoke(self, request: Request) -> Reply:
        """The reply of the first attempt that got one; else the last error, which says how often it was asked."""
        asked = failures = 0
        while True:
            self._outage.refuse()
            asked, others = asked + 1, self._answered
            try:
                reply = await self.inner.invoke(request)
            except JudgeReplyError:
                self._heard()
                raise
            except ModelCallError as error:
                self._outage.failed(error)
                # Refused for too many requests while others were answered: that is a crowd, and the turn will come.
                is_crowd = error.code == "judge_rate_limited" and self._answered > others
                failures += not is_crowd
                wait = self._wait(error, failures)
                if wait is None:
                    raise _given_up(error, asked) from None
            else:
                self._heard()
                return reply
            await self._clock.sleep(wait)

    def _heard(self) -> None:
        self._answered += 1
        self._outage.over()

    def _wait(self, error: ModelCallError, failures: int) -> float | None:
        """How long to wait before asking again; None when it is not worth it."""
        if not error.retryable or failures >= self.attempts or self._outage.lasts:
            return None
        if error.retry_after:
            # A little later than asked, so that all who were refused at once do not come back at once.
            wait = error.retry_after * (1.0 + 0.1 * self._clock.draw())
            return wait if error.retry_after <= self.longest_wait else None
        highest = min(self.longest_wait, self.first_wait * 2.0 ** max(0, failures - 1))
        return highest * (0.5 + 0.5 * self._clock.draw())


def _given_up(error: ModelCallError, attempts: int) -> ModelCallError:
    if attempts == 1 and error.retry_after is None:
        return error
    asked = f"asked {attempts} times" if attempts > 1 else f"it asks to wait {error.retry_after:g} s"
    return ModelCallError(
        f"{error} ({asked})", code=error.code, retryable=error.retryable, retry_after=error.retry_after
    )


def retried(
    invoker: BaseLMInvoker,
    *,
    attempts: int = 8,
    first_wait: float = 0.5,
    longest_wait: float = 60.0,
    patience: float = 20.0,
    clock: Clock | None = None,
) -> RetriedInvoker:
    """`invoker`, asked up to `attempts` times; waits are in seconds and double each time, with jitter.

    `Retry-After` is honoured up to `longest_wait`. A refusal for too many requests (HTTP 429) is no failed attempt
    while other calls are answered. When all calls fail for `patience` seconds the provider is taken to be down: the
    rest fail at once with the same code, and now and then one call looks whether it is back.
    """
    return RetriedInvoker(
        invoker, attempts=attempts, first_wait=first_wait, longest_wait=longest_wait, patience=patience, clock=clock
    )
