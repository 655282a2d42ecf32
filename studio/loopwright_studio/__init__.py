"""What a person touches: the command line, and the entry of LangGraph Studio."""
