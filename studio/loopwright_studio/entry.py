"""What LangGraph's server and Studio load: the graph of the configured agent, without a checkpointer of its own."""

from loopwright import build_graph
from loopwright.models import load_model
from loopwright_studio.agents import tools_of
from loopwright_studio.configuration import OFFLINE, load_settings
from loopwright_studio.server_graph import served

configuration, settings = load_settings()
graph = served(
    build_graph(
        load_model(
            configuration.model or OFFLINE,
            base_url=configuration.base_url,
            api_key=configuration.api_key,
            settings=settings.model,
        ),
        tools_of(configuration),
        settings,
    )
)
