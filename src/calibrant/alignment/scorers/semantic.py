"""Semantic similarity: the cosine of two texts' embeddings, by any embedding model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.alignment.scorers.similarity import SimilarityScorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from calibrant.alignment.scorers.comparisons import Comparison
    from calibrant.alignment.scoring_result import BaseScoringResult
    from calibrant.models import BaseLMInvoker, EmbeddingCache

__all__ = ["SemanticSimilarityScorer"]


class SemanticSimilarityScorer(SimilarityScorer):
    """The cosine of the embeddings of judge's and person's text; equal texts have 1.

    `model` names an embedding model, or is one. Without it, it is OpenAI's when OPENAI_API_KEY is set, and the offline
    one when it is not. `options` go with a name (`base_url`, `dimensions`, ...). A failed call gives every judge that
    it concerns a reason and no score. An empty text has no embedding, and is not compared.
    """

    score_name = "semantic_similarity"
    lowest = -1.0

    def __init__(
        self, model: str | BaseLMInvoker | None = None, *, cache: EmbeddingCache | None = None, **options: Any
    ) -> None:
        super().__init__(scorer_name="semantic_similarity")
        self.model = model
        self._cache = cache
        self._options = options

    @property
    def embedding_model(self) -> str:
        """The name of the model that is asked."""
        from calibrant.models import default_embedding_model

        if self.model is None:
            return default_embedding_model()
        return self.model if isinstance(self.model, str) else self.model.name

    def parameters(self) -> dict[str, Any]:
        """The model that is asked, also when it is the default, and its options but for secrets."""
        shown = {name: value for name, value in self._options.items() if name not in {"api_key", "headers"}}
        return {**super().parameters(), "embedding_model": self.embedding_model, "options": shown}

    async def similarities(self, pairs: Sequence[tuple[str, str]]) -> npt.NDArray[np.float64]:
        """The cosine of each pair, each different text embedded once; NaN where a text is empty."""
        from calibrant.models import embed

        texts = sorted({text for pair in pairs for text in pair if text.strip()})
        rows = await embed(texts, model=self.model or self.embedding_model, cache=self._cache, **self._options)
        places = {text: place for place, text in enumerate(texts)}
        found = np.full(len(pairs), np.nan)
        usable = [number for number, (a, b) in enumerate(pairs) if a in places and b in places]
        if usable:
            first = rows[[places[pairs[number][0]] for number in usable]].astype(float)
            second = rows[[places[pairs[number][1]] for number in usable]].astype(float)
            found[usable] = np.clip(np.einsum("ij,ij->i", first, second), -1.0, 1.0)
        return found

    async def score(self, comparison: Comparison) -> BaseScoringResult:
        """The mean cosine with its interval, and the model that it is by."""
        result = await super().score(comparison)
        result.metadata["embedding_model"] = self.embedding_model
        return result
