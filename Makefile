.PHONY: test check format bench

test:
	uv run pytest

check:
	uv run ruff check
	uv run ruff format --check
	uv run mypy
	uv run pyright

format:
	uv run ruff check --fix
	uv run ruff format

bench:
	uv run python benchmarks/loop_cost.py
