"""Encryption at rest: LangGraph's own serializer and variable for checkpoints, the same for what the store keeps."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import Checkpoint
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from loopwright.errors import StorageError
from loopwright.storage.unpacking import machine_is_imported, unpack

KEY_VARIABLE = "LANGGRAPH_AES_KEY"
"""The variable with the key of 16, 24 or 32 bytes; LangGraph's name for it."""


class PlainSerializer(JsonPlusSerializer):
    """LangGraph's serializer, which says in a sentence that a value is encrypted."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value. Raises StorageError when it was written with a key."""
        if "+" in data[0]:
            raise StorageError(f"This storage is encrypted: set {KEY_VARIABLE} to the key that it was written with.")
        if data[0] != "msgpack" or machine_is_imported():
            return super().loads_typed(data)
        whole = super().loads_typed
        return unpack(data[1], lambda packed: whole((data[0], packed)))


class SealingSerializer(EncryptedSerializer):
    """LangGraph's encrypting serializer; what was written before there was a key can still be read."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The value encrypted, a boxed text as the text that it is."""
        return super().dumps_typed(obj.text if isinstance(obj, BoxedText) else obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value. Raises StorageError when it was written with another key."""
        try:
            return super().loads_typed(data)
        except ValueError as error:
            if "MAC" not in str(error):
                raise
            raise StorageError(f"This storage was written with another key: set {KEY_VARIABLE} to that key.") from error


@dataclass(frozen=True)
class BoxedText:
    """A text that may not stand in clear where a saver keeps texts outside of what it serializes."""

    text: str


def boxed(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint with its texts boxed: PostgreSQL's saver would else write them into a JSON column, in clear."""
    values: Mapping[str, Any] = checkpoint["channel_values"]
    hidden = {name: BoxedText(value) if isinstance(value, str) else value for name, value in values.items()}
    return {**checkpoint, "channel_values": hidden}


def plain_serializer() -> PlainSerializer:
    """Reads and writes plain data only: nothing is imported while reading."""
    return PlainSerializer(allowed_msgpack_modules=None)


def serializer() -> PlainSerializer | SealingSerializer:
    """The serializer that the environment asks for. Raises StorageError for a key that cannot be used."""
    key = os.environ.get(KEY_VARIABLE, "").encode()
    if not key:
        return plain_serializer()
    if len(key) not in (16, 24, 32):
        raise StorageError(f"{KEY_VARIABLE} has {len(key)} bytes: a key has 16, 24 or 32.")
    try:
        sealing = SealingSerializer.from_pycryptodome_aes(plain_serializer(), key=key)
    except ImportError as error:
        raise StorageError(
            f"{KEY_VARIABLE} is set, and the package for it is not installed: "
            'pip install "loopwright[encryption]", or unset it.'
        ) from error
    assert isinstance(sealing, SealingSerializer)
    return sealing


def is_sealing(serde: SerializerProtocol) -> bool:
    """Whether what this serializer writes is encrypted."""
    return isinstance(serde, EncryptedSerializer)
