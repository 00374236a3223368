"""How a run is carried out: where it is kept, how much of it at a time, and within which budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calibrant.errors import InputError, WrongTypeError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from calibrant.runs.progress import ProgressState

__all__ = ["RunSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """Everything about a run that does not change what is measured.

    `workspace` is the folder that keeps calls and ratings, so that the same run again makes only the calls that are
    missing; None keeps the run in memory alone. `max_cost` (US dollars), `max_calls`, `max_tokens` and `max_minutes`
    stop it cleanly, with a valid partial result. `fresh` asks everything anew and keeps it as another run. `columns`
    and `cluster` say how a table is read. `store_text=False` keeps scores and hashes, and no text. `progress` is
    called several times a second with the state of the run. With `catch_interrupt` the first Ctrl-C stops the run
    with a valid partial result.
    """

    name: str = ""
    workspace: str | Path | None = None
    concurrency: int = 64
    seed: int = 0
    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_minutes: float | None = None
    fresh: bool = False
    store_text: bool = True
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    cluster: str | None = None
    level: float = 0.95
    catch_interrupt: bool = False
    progress: Callable[[ProgressState], None] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.concurrency, bool) or not isinstance(self.concurrency, int):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
            raise WrongTypeError(f"concurrency is a whole number, not {shortened(self.concurrency)}")
        if self.concurrency < 1:
            raise InputError(f"concurrency is at least 1, not {self.concurrency}")
        if not 0.0 < self.level < 1.0:
            raise InputError(f"level is a probability between 0 and 1, not {self.level}")
        for name in ("max_cost", "max_calls", "max_tokens", "max_minutes"):
            limit = getattr(self, name)
            if limit is not None and (isinstance(limit, bool) or not 0 <= limit < math.inf):
                raise InputError(f"{name} is a number, 0 or more, not {shortened(limit)}")
