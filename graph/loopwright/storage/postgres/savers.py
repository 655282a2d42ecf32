"""LangGraph's PostgreSQL checkpointers, and beside them two that leave no text in clear when there is a key.

The savers write texts among the channels into a JSON column as they are, past their serializer.
"""

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from psycopg import AsyncConnection, Connection
from psycopg.rows import DictRow

from loopwright.storage.encryption import boxed, is_sealing


class SealedSaver(PostgresSaver):
    """PostgreSQL's saver with an encrypting serializer for texts, too."""

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save the checkpoint, its texts encrypted."""
        return super().put(config, boxed(checkpoint), metadata, new_versions)


class AsyncSealedSaver(AsyncPostgresSaver):
    """Like `SealedSaver`, awaiting."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save the checkpoint, its texts encrypted."""
        return await super().aput(config, boxed(checkpoint), metadata, new_versions)


def saver(connection: Connection[DictRow], serde: SerializerProtocol) -> PostgresSaver:
    """The checkpointer over this connection."""
    kind = SealedSaver if is_sealing(serde) else PostgresSaver
    return kind(connection, serde=serde)


def async_saver(connection: AsyncConnection[DictRow], serde: SerializerProtocol) -> AsyncPostgresSaver:
    """The asynchronous checkpointer over this connection."""
    kind = AsyncSealedSaver if is_sealing(serde) else AsyncPostgresSaver
    return kind(connection, serde=serde)
