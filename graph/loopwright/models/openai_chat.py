"""ChatOpenAI with the streamed refusals that langchain-openai leaves out; imported only where such a model is built."""

from typing import Any

from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI


class OpenAIChat(ChatOpenAI):
    """A chat model of any OpenAI-compatible endpoint; `additional_kwargs["refusal"]` holds a refusal, streamed or not.

    Without it a streamed refusal looks like an empty reply and is asked for again.
    """

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        converted = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        refusal = _refusal(chunk)
        if converted is not None and refusal:
            converted.message.additional_kwargs["refusal"] = refusal
        return converted


def _refusal(chunk: dict[str, Any]) -> str:
    choices = chunk.get("choices") or [{}]
    return (choices[0].get("delta") or {}).get("refusal") or ""
