"""A rubric: what is asked of a judge, and the levels that it may answer with."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from itertools import islice, product
from string import ascii_uppercase
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError
from calibrant.metrics.fences import FENCE_RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Rubric", "RubricExample"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricExample:
    """An item that was rated rightly: its texts by field, its level and why."""

    texts: Mapping[str, str]
    level: int
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """A criterion with its definition, the fields that it needs, and its levels, from the lowest.

    The level that a judge gives becomes a score by its place between the lowest and the highest. `labels` stand for
    the levels where a judge answers with one word; letters by default, since a digit may be part of a longer number.

    >>> polite = Rubric(
    ...     criterion="polite", definition="Is it polite?", fields=("answer",), levels={1: "rude", 3: "kind"}
    ... )
    >>> polite.normalised(3), polite.normalised(1.5), polite.labels
    (1.0, 0.25, ('A', 'B'))
    """

    criterion: str
    definition: str
    fields: tuple[str, ...]
    levels: Mapping[int, str]
    optional: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    higher_is_better: bool = True
    threshold: float = 0.5
    examples: tuple[RubricExample, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("fields", "optional", "steps", "labels"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        ordered = dict(sorted(self.levels.items()))
        if len(ordered) < 2:
            raise InputError(f"levels: rubric {self.criterion!r} needs at least two levels, got {list(ordered)}")
        object.__setattr__(self, "levels", MappingProxyType(ordered))
        object.__setattr__(self, "labels", self.labels or _letters(len(ordered)))
        unseen = [] if self.fields else ["fields names at least one field, or the judge would rate an item unseen"]
        unseen += [f"steps: step {place} is empty" for place, step in enumerate(self.steps, 1) if not step.strip()]
        problems = [*unseen, *label_problems(self.labels, len(ordered)), *self._example_problems()]
        if problems:
            raise InputError.gathered(f"rubric {self.criterion!r}", problems)

    def __hash__(self) -> int:
        return hash((self.criterion, self.definition, tuple(self.levels.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        given = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        return _rubric, ({**given, "levels": dict(self.levels)},)

    def normalised(self, level: float) -> float:
        """Where `level` lies between the lowest level, 0.0, and the highest, 1.0."""
        lowest, highest = min(self.levels), max(self.levels)
        return (level - lowest) / (highest - lowest)

    def level_of(self, label: str) -> int:
        """The level that `label` stands for."""
        return list(self.levels)[self.labels.index(label)]

    def instructions(self, *, labelled: bool = False) -> str:
        """The system message: the criterion, its steps, levels and examples, and how to answer.

        With `labelled` the answer is a level's label alone; else an explanation, and then the level.
        """
        names = self.labels if labelled else tuple(str(level) for level in self.levels)
        parts = [
            "You are a judge. You rate one item on one criterion, and nothing else.",
            f"# Criterion: {self.criterion}\n{self.definition}",
            _numbered("# Steps", self.steps),
            "# Levels\n" + "\n".join(f"{name}: {text}" for name, text in zip(names, self.levels.values(), strict=True)),
            self._shown_examples(names),
            f"# The item\n{FENCE_RULES}",
            "# Your reply\n" + (_LABEL_REPLY if labelled else _JSON_REPLY),
        ]
        return "\n\n".join(part for part in parts if part)

    def to_json(self) -> dict[str, Any]:
        """Everything that makes this rubric differ from another."""
        return {
            **{spec.name: getattr(self, spec.name) for spec in fields(self)},
            "levels": list(self.levels.items()),
            "examples": [[dict(one.texts), one.level, one.explanation] for one in self.examples],
        }

    def _example_problems(self) -> list[str]:
        known = {*self.fields, *self.optional}
        return [
            *(
                f"example {place} has level {one.level}, which is none of {list(self.levels)}"
                for place, one in enumerate(self.examples, 1)
                if one.level not in self.levels
            ),
            *(
                f"example {place} has the field {name!r}, which the rubric does not name"
                for place, one in enumerate(self.examples, 1)
                for name in one.texts
                if name not in known
            ),
        ]

    def _shown_examples(self, names: tuple[str, ...]) -> str:
        if not self.examples:
            return ""
        by_level = dict(zip(self.levels, names, strict=True))
        shown = [
            "\n".join([*(f"{name}: {text}" for name, text in one.texts.items()), _shown_level(one, by_level)])
            for one in self.examples
        ]
        return "# Examples\n" + "\n\n".join(shown)


_JSON_REPLY = "First `explanation`: in two or three sentences, what in the item decides. Then `score`: the level."
_LABEL_REPLY = "The letter or word of the level that fits, and nothing else."


def label_problems(labels: tuple[str, ...], levels: int) -> list[str]:
    """Why `labels` cannot stand for that many levels when a judge answers with one of them; empty when they can."""
    problems: list[str] = []
    if len(labels) != levels:
        problems.append(f"labels name every level once: expected {levels}, got {len(labels)}")
    problems += [
        f"label {label!r} must be letters or words: a digit may be part of a longer number"
        for label in labels
        if not label.strip() or any(letter.isdigit() for letter in label)
    ]
    folded = [label.casefold() for label in labels]
    clashes = [
        labels[place]
        for place, label in enumerate(folded)
        if label and any(other.startswith(label) for at, other in enumerate(folded) if at != place)
    ]
    if clashes:
        problems.append(f"no label may begin another one, but {', '.join(sorted(set(clashes)))} does")
    return problems


def _letters(count: int) -> tuple[str, ...]:
    """A to Z; of more than 26 levels each gets two letters, since no label may begin another one."""
    return tuple(map("".join, islice(product(ascii_uppercase, repeat=1 if count <= 26 else 2), count)))


def _numbered(title: str, lines: tuple[str, ...]) -> str:
    return "\n".join([title, *(f"{place}. {line}" for place, line in enumerate(lines, 1))]) if lines else ""


def _shown_level(one: RubricExample, names: Mapping[int, str]) -> str:
    why = f"{one.explanation} " if one.explanation else ""
    return f"Level: {why}({names[one.level]})"


def _rubric(given: Mapping[str, Any]) -> Rubric:
    return Rubric(**given)
