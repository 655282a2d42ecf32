"""The tool `query_database`: it answers one SELECT and can change nothing, whatever the statement says."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.tools import BaseTool, ToolException

from loopwright.tooling import policy_of
from loopwright_tools import Workspace, query_database_tool


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a database of three rows."""
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER, name TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "tea"), (2, "coffee\tblack"), (3, None)])
        connection.commit()
    (tmp_path / "notes.txt").write_text("SQLite is nice", encoding="utf-8")
    return tmp_path


@pytest.fixture
def query(root: Path) -> BaseTool:
    """The tool over that workspace."""
    return query_database_tool(Workspace(root))


def test_rows_and_tables(query: BaseTool) -> None:
    """Without a statement the tables, with one the rows; a cell stays on its line and NULL is named."""
    assert "CREATE TABLE t (id INTEGER, name TEXT)" in query.invoke({"path": "shop.db"})
    assert query.invoke({"path": "shop.db", "sql": "select * from t order by id"}).split("\n") == [
        "[3 rows]",
        "id\tname",
        "1\ttea",
        "2\tcoffee\\tblack",
        "3\tNULL",
    ]


def test_the_row_cap_holds_and_says_so(query: BaseTool) -> None:
    """A comment in the statement changes nothing about it."""
    text = query.invoke({"path": "shop.db", "sql": "select * from t /* limit 5 */", "limit": 2})
    assert text.startswith("[2 rows; there are more")


@pytest.mark.parametrize(
    "sql",
    [
        "with k(v) as (values(1)) delete from t where 1=1 /* limit */",
        "select 1; drop table t",
        "update t set id = 9",
        "insert into t values (4, 'x') returning id",
        "create table u (a)",
        "attach database 'other.db' as o",
        "pragma writable_schema = 1",
        "vacuum into 'copy.db'",
        "begin",
    ],
)
def test_nothing_is_changed(query: BaseTool, root: Path, sql: str) -> None:
    """Writes behind a CTE, a second statement, pragmas, attached files: one sentence, and not a byte is different."""
    before = (root / "shop.db").read_bytes()
    with pytest.raises(ToolException, match="SELECT"):
        query.invoke({"path": "shop.db", "sql": sql})
    assert (root / "shop.db").read_bytes() == before
    assert sorted(path.name for path in root.iterdir()) == ["notes.txt", "shop.db"]


def test_what_is_no_database_is_told(query: BaseTool) -> None:
    """A text file, and a path outside."""
    with pytest.raises(ToolException, match="no SQLite database"):
        query.invoke({"path": "notes.txt"})
    with pytest.raises(ToolException, match="outside the workspace"):
        query.invoke({"path": "../shop.db"})


def test_sqlite_s_own_words_reach_the_model(query: BaseTool) -> None:
    """A wrong column is named."""
    with pytest.raises(ToolException, match="no such column: nope"):
        query.invoke({"path": "shop.db", "sql": "select nope from t"})


def test_it_declares_itself(query: BaseTool) -> None:
    """A read of text from outside."""
    policy = policy_of(query)
    assert (policy.effect, policy.untrusted) == ("read", True)
