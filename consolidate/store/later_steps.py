"""The later steps of the schema: recall, conversations, blocks, graph, notes, episodes, failures.

A step never changes once it has been released.
"""

from __future__ import annotations

from consolidate.store.database import Database
from consolidate.store.steps import MIGRATIONS, migration

__all__ = ["MIGRATIONS"]


@migration(6)
def recall_and_messages(database: Database) -> None:
    """What recall needs to keep up with changes, use and pins of facts, conversations."""
    changed = (
        "INSERT INTO fact_revisions (number, revision) VALUES ({}, "
        "(SELECT coalesce(max(revision), 0) + 1 FROM fact_revisions)) "
        "ON CONFLICT (number) DO UPDATE SET revision = excluded.revision;"
    )
    of_fact = "(SELECT number FROM facts WHERE id = {}.fact)"
    for statement in (
        # One row a fact, for good: a number without a fact says that the fact is gone.
        """CREATE TABLE fact_revisions (
            number INTEGER PRIMARY KEY,
            revision INTEGER NOT NULL UNIQUE
        )""",
        "INSERT INTO fact_revisions (number, revision) SELECT number, number FROM facts",
        """CREATE TABLE uses (
            fact TEXT PRIMARY KEY REFERENCES facts (id) ON DELETE CASCADE,
            count INTEGER NOT NULL CHECK (count > 0),
            last TEXT NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE pins (
            fact TEXT PRIMARY KEY REFERENCES facts (id) ON DELETE CASCADE,
            at TEXT NOT NULL
        ) WITHOUT ROWID""",
        *(
            f"CREATE TRIGGER {table}_{event.lower()}_revision AFTER {event} ON {table} "
            f"BEGIN {changed.format(number)} END"
            for table, event, number in (
                ("facts", "INSERT", "new.number"),
                ("facts", "UPDATE", "new.number"),
                ("facts", "DELETE", "old.number"),
            )
        ),
        # A fact that is deleted takes its uses and pins along; then there is no number to note.
        *(
            f"CREATE TRIGGER {table}_{event.lower()}_revision AFTER {event} ON {table} "
            f"WHEN {of_fact.format(row)} IS NOT NULL "
            f"BEGIN {changed.format(of_fact.format(row))} END"
            for table, event, row in (
                ("uses", "INSERT", "new"),
                ("uses", "UPDATE", "new"),
                ("pins", "INSERT", "new"),
                ("pins", "DELETE", "old"),
            )
        ),
        """CREATE TABLE messages (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            agent TEXT NOT NULL,
            conversation TEXT NOT NULL,
            role TEXT NOT NULL,
            content TEXT NOT NULL,
            at TEXT NOT NULL
        )""",
        "CREATE INDEX messages_by_conversation ON messages (agent, conversation, number)",
        """CREATE VIRTUAL TABLE messages_fts USING fts5 (
            content, content = 'messages', content_rowid = 'number',
            tokenize = 'unicode61 remove_diacritics 2'
        )""",
        """CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
            INSERT INTO messages_fts (rowid, content) VALUES (new.number, new.content);
        END""",
        """CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
            INSERT INTO messages_fts (messages_fts, rowid, content)
            VALUES ('delete', old.number, old.content);
        END""",
    ):
        database.write(statement)


@migration(7)
def blocks_and_forgetting(database: Database) -> None:
    """Named blocks with their past, and what a preview of forgetting was about."""
    for statement in (
        """CREATE TABLE blocks (
            agent TEXT NOT NULL,
            name TEXT NOT NULL,
            content TEXT NOT NULL,
            version INTEGER NOT NULL CHECK (version > 0),
            size_limit INTEGER NOT NULL CHECK (size_limit > 0),
            updated_at TEXT NOT NULL,
            PRIMARY KEY (agent, name)
        ) WITHOUT ROWID""",
        # What a block held before, not what it holds.
        """CREATE TABLE block_versions (
            agent TEXT NOT NULL,
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            content TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (agent, name, version)
        ) WITHOUT ROWID""",
        # Ids and row digests; no word of what is to be forgotten.
        """CREATE TABLE forget_tokens (
            token TEXT PRIMARY KEY,
            agent TEXT NOT NULL,
            facts TEXT NOT NULL,
            expires TEXT NOT NULL
        ) WITHOUT ROWID""",
    ):
        database.write(statement)


@migration(8)
def edges(database: Database) -> None:
    """What facts state, as edges between entities: derived, like entities and mentions."""
    for statement in (
        """CREATE TABLE edges (
            number INTEGER PRIMARY KEY,
            agent TEXT NOT NULL,
            source INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
            predicate TEXT NOT NULL CHECK (predicate <> ''),
            target INTEGER REFERENCES entities (id) ON DELETE CASCADE,
            value TEXT NOT NULL,
            weight REAL NOT NULL CHECK (weight > 0),
            fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
            UNIQUE (fact, source, predicate, value)
        )""",
        "CREATE INDEX edges_by_source ON edges (source)",
        "CREATE INDEX edges_by_target ON edges (target)",
        "CREATE INDEX edges_by_agent ON edges (agent)",
        # A number that is another after any change of what the graph is made of; uses and vectors,
        # which are written all the time, leave it.
        """CREATE TABLE graph_revision (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            number INTEGER NOT NULL
        )""",
        "INSERT INTO graph_revision VALUES (1, 0)",
        *(
            f"CREATE TRIGGER {table}_{event.split()[0].lower()}_graph AFTER {event} ON {table} "  # noqa: S608
            "BEGIN UPDATE graph_revision SET number = number + 1; END"
            for table, event in (
                ("entity_facts", "INSERT"),
                ("entity_facts", "DELETE"),
                ("edges", "INSERT"),
                ("edges", "DELETE"),
                ("facts", "UPDATE OF status, valid_from, valid_to"),
            )
        ),
    ):
        database.write(statement)


@migration(9)
def notes_by_agent(database: Database) -> None:
    """Notes are looked for whenever a fact is retired."""
    database.write("CREATE INDEX facts_synthesised ON facts (agent) WHERE kind = 'synthesis'")


@migration(10)
def episodes(database: Database) -> None:
    """What agents did, told as a whole, with a text index and the facts that came of it."""
    for statement in (
        """CREATE TABLE episodes (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            agent TEXT NOT NULL,
            title TEXT NOT NULL,
            text TEXT NOT NULL,
            outcome TEXT NOT NULL,
            session TEXT NOT NULL,
            started_at TEXT,
            ended_at TEXT,
            recorded_at TEXT NOT NULL
        )""",
        "CREATE INDEX episodes_by_session ON episodes (agent, session)",
        """CREATE TABLE episode_facts (
            episode TEXT NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
            fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
            PRIMARY KEY (episode, fact)
        ) WITHOUT ROWID""",
        "CREATE INDEX episode_facts_by_fact ON episode_facts (fact)",
        """CREATE VIRTUAL TABLE episodes_fts USING fts5 (
            title, text, content = 'episodes', content_rowid = 'number',
            tokenize = 'unicode61 remove_diacritics 2'
        )""",
        """CREATE TRIGGER episodes_fts_insert AFTER INSERT ON episodes BEGIN
            INSERT INTO episodes_fts (rowid, title, text)
            VALUES (new.number, new.title, new.text);
        END""",
        """CREATE TRIGGER episodes_fts_delete AFTER DELETE ON episodes BEGIN
            INSERT INTO episodes_fts (episodes_fts, rowid, title, text)
            VALUES ('delete', old.number, old.title, old.text);
        END""",
    ):
        database.write(statement)


@migration(11)
def failures(database: Database) -> None:
    """What models failed on, under the keys of their answers; `other` is `text` for one text."""
    database.write(
        """CREATE TABLE failures (
            model INTEGER NOT NULL REFERENCES models (id),
            text INTEGER NOT NULL REFERENCES texts (id),
            other INTEGER NOT NULL REFERENCES texts (id),
            attempts INTEGER NOT NULL CHECK (attempts > 0),
            PRIMARY KEY (model, text, other)
        ) WITHOUT ROWID"""
    )


@migration(12)
def edges_to_draw(database: Database) -> None:
    """Runs that saw nothing new would never draw the edges of what files held before step 8."""
    database.write("DELETE FROM states")
