"""LangGraph's development server as `loopwright studio` runs it: its own command, and our threads told to it."""

import sys
import threading
from pathlib import Path


def main() -> None:
    """Be the server until it ends; called with its URL, its langgraph.json, and the words after `langgraph`."""
    from langgraph_cli.cli import cli  # of the extra `studio`

    from loopwright_studio.introducing import introduce_threads

    server, config, *words = sys.argv[1:]
    threading.Thread(target=introduce_threads, args=(server, Path(config)), daemon=True).start()
    cli(words, prog_name="langgraph")
