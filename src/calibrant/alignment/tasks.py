"""What is asked about each item: the tasks, their answers, and what judges and people are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

from calibrant.agreement.published import value_text
from calibrant.errors import InputError, UnknownNameError, shortened

__all__ = ["EvalTask", "MultiLabelSchema"]

ANSWERING_METHODS = ("structured", "instructor", "xml")
NOT_CHOSEN = "FALSE"


@dataclass(frozen=True)
class MultiLabelSchema:
    """A task in which any number of `outcomes` may hold at once."""

    outcomes: tuple[str, ...]

    def __init__(self, outcomes: Sequence[str]) -> None:
        object.__setattr__(self, "outcomes", _outcomes("the schema", outcomes))


Schema = Sequence[str] | MultiLabelSchema | None


@dataclass
class EvalTask:
    """The tasks: for each name its outcomes, a MultiLabelSchema, or None for free text.

    Judges and people are shown `prompt_columns` and `response_columns` of the data. `required_tasks` must be answered
    (by default those with outcomes). `skip_function` says of a row whether nobody is asked about it.

    >>> task = EvalTask({"rejection": ["rejection", "not rejection"], "explanation": None}, response_columns=["answer"])
    >>> task.required_tasks, task.problem("rejection", "maybe")
    (['rejection'], "expected one of rejection, not rejection, got 'maybe'")
    """

    task_schemas: Mapping[str, Schema]
    prompt_columns: Sequence[str] | None = None
    response_columns: Sequence[str] = ()
    required_tasks: Sequence[str] | None = None
    annotation_prompt: str = "Please evaluate the following response:"
    answering_method: str = "structured"
    structured_outputs_fallback: bool = False
    skip_function: Callable[[Mapping[str, Any]], bool] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.task_schemas:
            raise InputError("task_schemas is empty; name at least one task")
        self.task_schemas = {
            str(name): schema if schema is None or isinstance(schema, MultiLabelSchema) else _outcomes(name, schema)
            for name, schema in self.task_schemas.items()
        }
        self.prompt_columns = None if self.prompt_columns is None else _columns("prompt_columns", self.prompt_columns)
        self.response_columns = _columns("response_columns", self.response_columns)
        if self.answering_method not in ANSWERING_METHODS:
            raise UnknownNameError.among("answering_method", self.answering_method, ANSWERING_METHODS)
        if self.required_tasks is None:
            self.required_tasks = [name for name, schema in self.task_schemas.items() if schema is not None]
        unknown = [name for name in self.required_tasks if name not in self.task_schemas]
        if unknown:
            raise UnknownNameError.among("required task", unknown[0], self.task_schemas)

    @property
    def columns(self) -> list[str]:
        """The columns of the data that are shown."""
        return [*(self.prompt_columns or []), *self.response_columns]

    def problem(self, task: str, answer: Any) -> str:
        """What is wrong with an answer to a task; empty when nothing is."""
        schema = self.task_schemas.get(task)
        if schema is None or answer is None:
            return ""
        allowed = schema.outcomes if isinstance(schema, MultiLabelSchema) else schema
        given = answer if isinstance(answer, list | tuple) else [answer]
        wrong = [one for one in given if one not in allowed and not (one == NOT_CHOSEN and given is answer)]
        if not wrong:
            return ""
        return f"expected one of {', '.join(allowed)}, got {shortened(wrong[0])}"

    def answer(self, task: str, answer: Any) -> Any:
        """An answer as the schema writes it: a truth value or a number as the outcome of that text.

        >>> EvalTask({"safe": ["true", "false"]}).answer("safe", True)
        'true'
        """
        schema = self.task_schemas.get(task)
        if schema is None:
            return answer if answer is None or isinstance(answer, str | list) else value_text(answer)
        if isinstance(answer, list | tuple):
            return [self.answer(task, one) for one in answer]
        allowed = schema.outcomes if isinstance(schema, MultiLabelSchema) else schema
        if isinstance(answer, bool | int | float):
            text = value_text(answer)
            return next((one for one in allowed if one.casefold() == text), text)
        return answer

    def to_json(self) -> dict[str, Any]:
        """The task as the project's state has it; a skip_function is code, and is not kept."""
        schemas = {
            name: {"multilabel": list(schema.outcomes)}
            if isinstance(schema, MultiLabelSchema)
            else schema and list(schema)
            for name, schema in self.task_schemas.items()
        }
        return {
            "task_schemas": schemas,
            "prompt_columns": None if self.prompt_columns is None else list(self.prompt_columns),
            "response_columns": list(self.response_columns),
            "required_tasks": list(self.required_tasks or ()),
            "annotation_prompt": self.annotation_prompt,
            "answering_method": self.answering_method,
            "structured_outputs_fallback": self.structured_outputs_fallback,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The task that `to_json`, or another meta-evaluator, wrote; what is not known is left out."""
        known = {name: value for name, value in data.items() if name in cls.__dataclass_fields__ and value is not None}
        known["task_schemas"] = {name: _schema(schema) for name, schema in data["task_schemas"].items()}
        return cls(**known)


def _schema(data: Any) -> Schema:
    if isinstance(data, Mapping):
        return MultiLabelSchema(data.get("multilabel") or data.get("outcomes") or ())
    return data


def _columns(name: str, given: Any) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InputError(f"{name} is a list of columns, not {shortened(given)}")
    return list(cast("Sequence[str]", given))


def _outcomes(name: str, outcomes: Any) -> tuple[str, ...]:
    if isinstance(outcomes, str) or not isinstance(outcomes, Sequence):
        raise InputError(f"task {name!r} has a list of outcomes, or None for free text, not {shortened(outcomes)}")
    listed = tuple(value_text(one) if isinstance(one, bool | int | float) else str(one) for one in outcomes)
    if len(set(listed)) < 2:
        raise InputError(f"task {name!r} needs two different outcomes or more, or None for free text")
    return listed
