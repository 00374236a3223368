"""Where a run is kept: in a workspace on disk, or in memory for as long as the Run lives."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from calibrant.errors import StoreError
from calibrant.items import EvalInput
from calibrant.metrics.fences import workspace_secret
from calibrant.store.records import ItemRecord
from calibrant.store.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from calibrant.ratings import Rating
    from calibrant.runs.settings import RunSettings

__all__ = ["Keeper", "KeptItem", "MemoryKeeper", "WorkspaceKeeper", "opened"]

SECRET_FILE = "secret"  # noqa: S105 - a file's name


@dataclass(frozen=True, slots=True)
class KeptItem:
    """An item of a run, at its place in the dataset, with the cluster that it belongs to."""

    position: int
    item: EvalInput
    cluster: str | None = None


class Keeper(Protocol):
    """What a run needs of its place: to add what comes, and to read it again."""

    @property
    def workspace(self) -> Workspace | None:
        """The workspace, if there is one."""
        ...

    def secret(self) -> AbstractContextManager[None]:
        """Within it, what is judged is fenced by markers of this place's own."""
        ...

    def add(self, run: str, items: Iterable[KeptItem], ratings: Iterable[Rating]) -> None:
        """Keep these items with their ratings."""
        ...

    def ratings(self, run: str, criterion: str | None = None) -> Iterator[Rating]:
        """The ratings of a run, of one criterion or of all."""
        ...

    def items(self, run: str) -> Iterator[KeptItem]:
        """The items of a run, in the dataset's order."""
        ...

    def put_manifest(self, run: str, manifest: Mapping[str, Any]) -> None:
        """Keep what is known about a run."""
        ...

    def manifest(self, run: str) -> Mapping[str, Any] | None:
        """What is known about a run."""
        ...

    async def settle(self) -> None:
        """Return when what was added is safe."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...


class MemoryKeeper:
    """Keeps a run in lists."""

    workspace: Workspace | None = None

    def __init__(self) -> None:
        self._items: dict[int, KeptItem] = {}
        self._ratings: list[Rating] = []
        self._manifests: dict[str, Mapping[str, Any]] = {}

    def secret(self) -> AbstractContextManager[None]:
        """What is not kept needs no secret of its own."""
        return contextlib.nullcontext()

    def add(self, run: str, items: Iterable[KeptItem], ratings: Iterable[Rating]) -> None:
        """Keep these items with their ratings."""
        del run
        self._items.update((kept.position, kept) for kept in items)
        self._ratings.extend(ratings)

    def ratings(self, run: str, criterion: str | None = None) -> Iterator[Rating]:
        """The ratings, of one criterion or of all."""
        del run
        return (rating for rating in self._ratings if criterion is None or rating.criterion == criterion)

    def items(self, run: str) -> Iterator[KeptItem]:
        """The items, in the dataset's order."""
        del run
        return (self._items[position] for position in sorted(self._items))

    def put_manifest(self, run: str, manifest: Mapping[str, Any]) -> None:
        """Keep what is known about the run."""
        self._manifests[run] = manifest

    def manifest(self, run: str) -> Mapping[str, Any] | None:
        """What is known about a run."""
        return self._manifests.get(run)

    async def settle(self) -> None:
        """Nothing is on its way."""

    def close(self) -> None:
        """Nothing is open."""


class WorkspaceKeeper:
    """Keeps a run in a workspace; where no texts are kept, its items come back with their ids alone."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @property
    def workspace(self) -> Workspace:
        """The workspace."""
        return self._workspace

    def secret(self) -> AbstractContextManager[None]:
        """Within it, markers are keyed with the secret that lies beside the database, made when it is not there."""
        return workspace_secret(_secret_beside(self.workspace.path))

    def add(self, run: str, items: Iterable[KeptItem], ratings: Iterable[Rating]) -> None:
        """Have these items and their ratings written soon."""
        keeps = self.workspace.store_text
        records = [
            ItemRecord(
                position=kept.position,
                item=kept.item.id,
                cluster=kept.cluster,
                data=kept.item.to_json() if keeps else None,
            )
            for kept in items
        ]
        self.workspace.add_items(run, records)
        self.workspace.add_ratings(run, ratings)

    def ratings(self, run: str, criterion: str | None = None) -> Iterator[Rating]:
        """The ratings of a run, of one criterion or of all, in the order in which they were written."""
        return self.workspace.ratings(run, criterion=criterion)

    def items(self, run: str) -> Iterator[KeptItem]:
        """The items of a run, in the dataset's order."""
        for record in self.workspace.items(run):
            item = EvalInput(id=record.item) if record.data is None else EvalInput.from_dict(record.data)
            yield KeptItem(record.position, item, record.cluster)

    def put_manifest(self, run: str, manifest: Mapping[str, Any]) -> None:
        """Commit what is known about a run."""
        self.workspace.put_manifest(run, manifest)

    def manifest(self, run: str) -> Mapping[str, Any] | None:
        """What is known about a run."""
        return self.workspace.manifest(run)

    async def settle(self) -> None:
        """Return when what was added is committed."""
        await asyncio.to_thread(self.workspace.flush)

    def close(self) -> None:
        """Commit what was added, and let go of the file."""
        self.workspace.close()


def opened(settings: RunSettings) -> Keeper:
    """The place that the settings name: a workspace, or memory."""
    if settings.workspace is None:
        return MemoryKeeper()
    return WorkspaceKeeper(Workspace(settings.workspace, store_text=settings.store_text))


def _secret_beside(database: Path) -> str:
    """The workspace's secret. It appears whole or not at all, whichever process is first."""
    place = database.parent / SECRET_FILE
    try:
        if not place.exists():
            # Each thread of each process has a draft of its own; mkstemp makes it readable by its owner alone.
            handle, draft = tempfile.mkstemp(prefix=f"{SECRET_FILE}.", dir=place.parent)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(32))
            with contextlib.suppress(FileExistsError):
                os.link(draft, place)
            Path(draft).unlink()
        return place.read_text(encoding="ascii")
    except OSError as error:
        raise StoreError(f"cannot keep the workspace's secret in {place}: {error}") from None
