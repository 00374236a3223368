"""A rubric from a one-line criterion: a model writes the steps, once, and they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import InputError, JudgeReplyError, shortened
from calibrant.metrics.judges import resolve_primary_invoker
from calibrant.metrics.rubric import RubricMetric
from calibrant.metrics.rubric_files import read_rubric, rubric_markdown
from calibrant.metrics.rubric_record import Rubric
from calibrant.metrics.settings import checked_criteria
from calibrant.models.invoker import Request
from calibrant.ratings import Usage

if TYPE_CHECKING:
    from calibrant.items import EvalInput
    from calibrant.ratings import MetricScore

__all__ = ["GEvalMetric"]

LEVELS: Mapping[int, str] = {
    1: "The criterion is not met.",
    2: "The criterion is met in part.",
    3: "The criterion is met fully.",
}

_UNNAMED = "g_eval"
_WRITER = """\
You write the steps by which a judge shall rate one answer of a system on one criterion. Write three to six steps, \
each one sentence in the imperative, that say what to look for and what decides between the levels. Do not rate \
anything."""

_STEPS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
    "required": ["steps"],
    "additionalProperties": False,
}


class GEvalMetric(RubricMetric):
    """A metric for a criterion in a line: `GEvalMetric(criteria="The answer is polite.", name="polite")`.

    The steps are written by the first judge before the first item is rated, once, and are part of the instrument, also
    of the next run's with the same metric; pass `steps` to write them yourself. With `path` they are kept in a rubric
    file, which is read when it is there: look at it, correct it, commit it. `fields` are what the judge sees and needs;
    by default it needs the answer, and sees query, contexts and reference where an item has them.
    """

    def __init__(
        self,
        criteria: str,
        *,
        name: str = _UNNAMED,
        fields: Sequence[str] | str | None = None,
        steps: Sequence[str] | str = (),
        path: str | Path | None = None,
        **settings: Any,
    ) -> None:
        self.path = None if path is None else Path(path)
        self.preparation = Usage()
        self._written: list[Rubric] = []
        self._lock: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None
        rubric = Rubric(
            criterion=name,
            definition=checked_criteria(criteria),
            fields=("answer",) if fields is None else cast("tuple[str, ...]", fields),
            optional=("query", "contexts", "ground_truth") if fields is None else (),
            steps=cast("tuple[str, ...]", steps),
            levels=LEVELS,
        )
        asked = {"criterion": name} if name != _UNNAMED else {}
        super().__init__(
            self._kept(rubric, asked if fields is None else {**asked, "fields": rubric.fields}), **settings
        )

    async def prepare(self) -> None:
        """Have the steps written, unless they are there. The first judge is asked; `preparation` is what it took."""
        if self.rubric.steps:
            return
        async with self._loop_lock():
            if self.rubric.steps:
                return
            if not self._written:
                await self._write()
            # A run asks a copy of the metric; the list is shared, so that the next run has the same instrument.
            self.rubric = self._written[0]

    def steps_request(self) -> Request:
        """What the first judge is asked for the steps."""
        levels = "\n".join(f"{level}: {text}" for level, text in self.rubric.levels.items())
        shown = ", ".join((*self.rubric.fields, *self.rubric.optional))
        prompt = f"The criterion: {self.rubric.definition}\n\nThe judge sees: {shown}\n\nThe levels:\n{levels}"
        return Request.of(prompt, system=_WRITER, schema=_STEPS_SCHEMA)

    def preparing_requests(self) -> list[Request]:
        """The request for the steps, unless they are there."""
        return [] if self.rubric.steps or self._written else [self.steps_request()]

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        await self.prepare()
        return await super()._evaluate(data)

    async def _write(self) -> None:
        reply = await resolve_primary_invoker(self.models).invoke(self.steps_request())
        self.preparation += reply.usage
        written = replace(self.rubric, steps=_read_steps(reply.data))
        if self.path is not None:
            await asyncio.to_thread(_keep, self.path, written)
        self._written.append(written)

    def _kept(self, rubric: Rubric, asked: Mapping[str, Any]) -> Rubric:
        """The rubric of the file, if it is there; what was `asked` for by name may not differ in it."""
        if rubric.steps or self.path is None or not self.path.exists():
            return rubric
        kept = read_rubric(self.path)
        if kept.definition != rubric.definition:
            raise InputError(
                f"{self.path} was written for other criteria, {shortened(kept.definition)}; "
                "delete it, or use RubricMetric to read it as it is"
            )
        for key, wanted in asked.items():
            if getattr(kept, key) != wanted:
                raise InputError(
                    f"{self.path} has the {key} {getattr(kept, key)!r}, and {wanted!r} is asked for; "
                    "change one of them, or delete the file to have it written anew"
                )
        return kept

    def _loop_lock(self) -> asyncio.Lock:
        """The lock of the running loop: a lock that has been waited for belongs to one loop."""
        loop = asyncio.get_running_loop()
        if self._lock is None or self._lock[0] is not loop:
            self._lock = (loop, asyncio.Lock())
        return self._lock[1]


def _read_steps(data: Any) -> tuple[str, ...]:
    steps = cast("Mapping[str, Any]", data).get("steps") if isinstance(data, Mapping) else None
    if not isinstance(steps, list) or not steps or not all(isinstance(step, str) and step.strip() for step in steps):
        raise JudgeReplyError(f"expected a list of steps, got {shortened(data)}")
    return tuple(step.strip() for step in cast("list[str]", steps))


def _keep(path: Path, rubric: Rubric) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rubric_markdown(rubric), "utf-8")
