"""Judges that are models: what they are asked, and by which name they are reached."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from calibrant.alignment.tasks import EvalTask, MultiLabelSchema
from calibrant.errors import InputError, shortened
from calibrant.items import identifier
from calibrant.models.invoker import Message, Request

if TYPE_CHECKING:
    from calibrant.models.invoker import BaseLMInvoker

__all__ = ["JudgeConfig", "judges_of_state", "judges_of_yaml", "schema_of"]

PLACE = re.compile(r"\{(\w+)\}")
KEYS = frozenset(
    {"id", "llm_client", "model", "prompt_file", "prompt", "temperature", "extra_headers", "base_url", "api_key_env"}
)


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """A judge: its name, its model (`provider/model`, or one that is connected already) and its prompt.

    `{column}` in the prompt is the item's value of that column; what the prompt does not mention is put below it.
    `headers` are sent and never saved; a key is read from the variable that `api_key_env` names.
    """

    id: str
    model: str | BaseLMInvoker
    prompt: str
    temperature: float | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    def connected(self) -> BaseLMInvoker:
        """The model, reached by its name."""
        from calibrant.models import connect

        if not isinstance(self.model, str):
            return self.model
        given = {"base_url": self.base_url, "api_key_env": self.api_key_env, "headers": dict(self.headers) or None}
        return connect(self.model, **{name: value for name, value in given.items() if value is not None})

    def request(self, item: Mapping[str, Any], task: EvalTask, slot: int = 0) -> Request:
        """What the judge is asked about an item."""
        named = set(PLACE.findall(self.prompt))
        text = PLACE.sub(lambda match: _value(item, match), self.prompt)
        shown = [f"{name}:\n{item.get(name, '')}" for name in task.columns if name not in named]
        sampling = {} if self.temperature is None else {"temperature": self.temperature}
        content = "\n\n".join([text, *shown])
        return Request(messages=(Message("user", content),), schema=schema_of(task), sampling=sampling, slot=slot)

    def to_json(self) -> dict[str, Any]:
        """The judge as the project's state has it: no key and no header."""
        return {
            "id": self.id,
            "model": self.model if isinstance(self.model, str) else self.model.name,
            "prompt": self.prompt,
            "temperature": self.temperature,
            "base_url": self.base_url,
            "api_key_env": self.api_key_env,
        }


def schema_of(task: EvalTask) -> dict[str, Any]:
    """The JSON schema of a reply: one property a task.

    >>> schema_of(EvalTask({"safe": ["yes", "no"]}))["properties"]
    {'safe': {'type': 'string', 'enum': ['yes', 'no']}}
    """
    properties: dict[str, Any] = {}
    for name, schema in task.task_schemas.items():
        if schema is None:
            properties[name] = {"type": "string"}
        elif isinstance(schema, MultiLabelSchema):
            properties[name] = {"type": "array", "items": {"type": "string", "enum": list(schema.outcomes)}}
        else:
            properties[name] = {"type": "string", "enum": list(schema)}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def judges_of_yaml(path: str | Path) -> list[JudgeConfig]:
    """The judges in a YAML file: `judges`, each with id, model and prompt_file (relative to the file) or prompt.

    `llm_client: openai` and `model: gpt-x` are the model `openai/gpt-x`. Every problem in the file is named.
    """
    from ruamel.yaml import YAML, YAMLError

    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no file of judges at {file}; give the path of a file that exists")
    try:
        data = YAML(typ="safe").load(file.read_text(encoding="utf-8"))
    except YAMLError as error:
        raise InputError(f"{file} is no YAML: {str(error).splitlines()[0]}") from None
    entries = data.get("judges") if isinstance(data, Mapping) else None
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise InputError(f"{file} has no list of judges; expected `judges:` with an id, a model and a prompt_file each")
    problems: list[str] = []
    judges = [_judge(entry, place, file.parent, problems) for place, entry in enumerate(entries, start=1)]
    if problems:
        raise InputError.gathered(str(file), problems)
    return [judge for judge in judges if judge is not None]


def judges_of_state(state: Mapping[str, Any]) -> list[JudgeConfig]:
    """The judges that a project's state holds, ours or another meta-evaluator's.

    Of ours, headers were not kept, and are given anew where they are needed; another's are read, and not kept either.
    """
    ours = [JudgeConfig(**entry) for entry in state.get("judges") or ()]
    registry: Mapping[str, Any] = state.get("judge_registry") or {}
    return [*ours, *(_registered(name, entry) for name, entry in registry.items())]


def _registered(name: str, entry: Mapping[str, Any]) -> JudgeConfig:
    prompt = entry.get("prompt") or ""
    client = entry.get("llm_client")
    return JudgeConfig(
        id=identifier(entry.get("id") or name, "judge id"),
        model=f"{client}/{entry['model']}" if client else str(entry["model"]),
        prompt=str(prompt.get("prompt", "") if isinstance(prompt, Mapping) else prompt),
        temperature=entry.get("temperature"),
        headers=entry.get("extra_headers") or {},
    )


def _judge(entry: Any, place: int, folder: Path, problems: list[str]) -> JudgeConfig | None:
    if not isinstance(entry, Mapping):
        problems.append(f"judge {place}: expected keys such as id and model, got {shortened(entry)}")
        return None
    given = cast("Mapping[str, Any]", entry)
    found = [f"unknown key {name!r}; expected one of: {', '.join(sorted(KEYS))}" for name in given if name not in KEYS]
    found += [f"has no {name}" for name in ("id", "model") if not given.get(name)]
    prompt = _prompt(given, folder, found)
    problems += [f"judge {given.get('id') or place}: {problem}" for problem in found]
    if found:
        return None
    client = given.get("llm_client")
    return JudgeConfig(
        id=identifier(given["id"], "judge id"),
        model=f"{client}/{given['model']}" if client else str(given["model"]),
        prompt=prompt,
        temperature=given.get("temperature"),
        base_url=given.get("base_url"),
        api_key_env=given.get("api_key_env"),
        headers=given.get("extra_headers") or {},
    )


def _prompt(entry: Mapping[str, Any], folder: Path, problems: list[str]) -> str:
    if entry.get("prompt"):
        return str(entry["prompt"])
    if not entry.get("prompt_file"):
        problems.append("has no prompt_file and no prompt")
        return ""
    path = folder / str(entry["prompt_file"])
    if not path.is_file():
        problems.append(f"there is no prompt_file at {path}")
        return ""
    return path.read_text(encoding="utf-8")


def _value(item: Mapping[str, Any], match: re.Match[str]) -> str:
    name = match[1]
    return match[0] if name not in item else str("" if item[name] is None else item[name])
