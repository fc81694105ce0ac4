"""The steps of the schema and how they are written down: facts, runs, models, entities.

A step never changes once it has been released. The later ones are in `later_steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from consolidate.store.database import Database
from consolidate.store.entity_names import fill_names
from consolidate.store.passages import INSERT_PASSAGE, PASSAGES_FROM, passage_rows
from consolidate.store.rekeying import rekey_entities

__all__ = ["APPLICATION_ID", "MIGRATIONS", "Migration", "migration"]

APPLICATION_ID = 0x434F4E53
"""`CONS` in the header of the file: how a store is told from any other SQLite database."""


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One step from a version to the next."""

    version: int
    name: str
    run: Callable[[Database], None]


MIGRATIONS: list[Migration] = []
"""All steps in order."""


def migration(version: int) -> Callable[[Callable[[Database], None]], Callable[[Database], None]]:
    """Register a function as the step that leads to `version`."""

    def register(step: Callable[[Database], None]) -> Callable[[Database], None]:
        if version != len(MIGRATIONS) + 1:
            raise ValueError(f"migration {version} is out of order")
        MIGRATIONS.append(Migration(version=version, name=step.__name__, run=step))
        return step

    return register


@migration(1)
def facts_and_runs(database: Database) -> None:
    """Facts with their text index, runs with their journal, links, the lease."""
    for statement in (
        f"PRAGMA application_id = {APPLICATION_ID}",
        """CREATE TABLE migrations (
            version INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            applied_at TEXT NOT NULL
        )""",
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE plans (
            id TEXT PRIMARY KEY,
            agent TEXT NOT NULL,
            body TEXT NOT NULL
        )""",
        # Decisions lie apart from the rest of the plan: history and settled pairs look up single
        # ones, and a plan can be many megabytes.
        """CREATE TABLE decisions (
            plan TEXT NOT NULL REFERENCES plans (id),
            position INTEGER NOT NULL,
            subject TEXT NOT NULL,
            object TEXT NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (plan, position)
        )""",
        "CREATE INDEX decisions_by_subject ON decisions (subject)",
        """CREATE TABLE runs (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            agent TEXT NOT NULL,
            plan TEXT NOT NULL REFERENCES plans (id),
            state TEXT NOT NULL CHECK (state IN ('applied', 'undone')),
            started_at TEXT NOT NULL,
            finished_at TEXT,
            undone_at TEXT,
            receipt TEXT,
            summary TEXT NOT NULL
        )""",
        "CREATE INDEX runs_by_agent ON runs (agent, number)",
        "CREATE UNIQUE INDEX runs_once ON runs (plan) WHERE state = 'applied'",
        """CREATE TABLE facts (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            agent TEXT NOT NULL,
            kind TEXT NOT NULL,
            text TEXT NOT NULL,
            metadata TEXT NOT NULL,
            stated_at TEXT,
            confirmed_at TEXT,
            valid_from TEXT,
            valid_to TEXT,
            recorded_at TEXT NOT NULL,
            source TEXT NOT NULL,
            trust REAL NOT NULL CHECK (trust BETWEEN 0 AND 1),
            intensity REAL NOT NULL CHECK (intensity BETWEEN 0 AND 1),
            encounters INTEGER NOT NULL CHECK (encounters >= 0),
            access_count INTEGER NOT NULL CHECK (access_count >= 0),
            last_access TEXT,
            content_hash TEXT NOT NULL,
            status TEXT NOT NULL
                CHECK (status IN ('active', 'superseded', 'merged', 'forgotten', 'in_review')),
            superseded_by TEXT REFERENCES facts (id) DEFERRABLE INITIALLY DEFERRED
                CHECK (superseded_by <> id),
            merged_into TEXT REFERENCES facts (id) DEFERRABLE INITIALLY DEFERRED
                CHECK (merged_into <> id),
            changed_by TEXT REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED
        )""",
        "CREATE INDEX facts_by_agent ON facts (agent, id)",
        "CREATE INDEX facts_by_content ON facts (content_hash)",
        "CREATE INDEX facts_by_successor ON facts (superseded_by) WHERE superseded_by IS NOT NULL",
        "CREATE INDEX facts_by_survivor ON facts (merged_into) WHERE merged_into IS NOT NULL",
        "CREATE INDEX facts_by_run ON facts (changed_by) WHERE changed_by IS NOT NULL",
        """CREATE VIRTUAL TABLE facts_fts USING fts5 (
            text, content = 'facts', content_rowid = 'number',
            tokenize = 'unicode61 remove_diacritics 2'
        )""",
        """CREATE TRIGGER facts_fts_insert AFTER INSERT ON facts BEGIN
            INSERT INTO facts_fts (rowid, text) VALUES (new.number, new.text);
        END""",
        """CREATE TRIGGER facts_fts_delete AFTER DELETE ON facts BEGIN
            INSERT INTO facts_fts (facts_fts, rowid, text)
            VALUES ('delete', old.number, old.text);
        END""",
        """CREATE TRIGGER facts_fts_update AFTER UPDATE OF text ON facts
        WHEN old.text IS NOT new.text BEGIN
            INSERT INTO facts_fts (facts_fts, rowid, text)
            VALUES ('delete', old.number, old.text);
            INSERT INTO facts_fts (rowid, text) VALUES (new.number, new.text);
        END""",
        """CREATE TABLE links (
            agent TEXT NOT NULL,
            left_fact TEXT NOT NULL REFERENCES facts (id) DEFERRABLE INITIALLY DEFERRED,
            right_fact TEXT NOT NULL REFERENCES facts (id) DEFERRABLE INITIALLY DEFERRED
                CHECK (right_fact <> left_fact),
            relation TEXT NOT NULL,
            run TEXT REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
            PRIMARY KEY (left_fact, right_fact, relation)
        )""",
        "CREATE INDEX links_by_right ON links (right_fact)",
        "CREATE INDEX links_by_agent ON links (agent)",
        """CREATE TABLE aliases (
            agent TEXT NOT NULL,
            canonical TEXT NOT NULL,
            alias TEXT NOT NULL,
            never INTEGER NOT NULL CHECK (never IN (0, 1)),
            PRIMARY KEY (agent, canonical, alias)
        ) WITHOUT ROWID""",
        # Rows are named by table and key, not by rowid, and stored as objects, so that the
        # journal can still be read after a later migration adds a column.
        """CREATE TABLE journal (
            number INTEGER PRIMARY KEY,
            run TEXT NOT NULL REFERENCES runs (id),
            subject TEXT NOT NULL,
            key TEXT NOT NULL,
            before TEXT,
            after TEXT
        )""",
        "CREATE INDEX journal_by_run ON journal (run, number)",
        "CREATE INDEX journal_by_row ON journal (subject, key, number)",
        """CREATE TABLE lease (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            token TEXT NOT NULL,
            holder TEXT NOT NULL,
            pid INTEGER NOT NULL,
            host TEXT NOT NULL,
            boot TEXT NOT NULL,
            since TEXT NOT NULL,
            renewed TEXT NOT NULL,
            expires TEXT NOT NULL
        )""",
    ):
        database.write(statement)


@migration(2)
def models_reviews_and_entities(database: Database) -> None:
    """What models said (caches), what they named, what a person must decide, run states."""
    for statement in (
        # Text hashes and model names recur in every cache; integers keep the caches small.
        "CREATE TABLE texts (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE)",
        "CREATE TABLE models (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
        """CREATE TABLE vectors (
            text INTEGER PRIMARY KEY REFERENCES texts (id),
            model INTEGER NOT NULL REFERENCES models (id),
            vector BLOB NOT NULL
        )""",
        """CREATE TABLE mention_cache (
            model INTEGER NOT NULL REFERENCES models (id),
            text INTEGER NOT NULL REFERENCES texts (id),
            body TEXT NOT NULL,
            PRIMARY KEY (model, text)
        ) WITHOUT ROWID""",
        """CREATE TABLE verdicts (
            model INTEGER NOT NULL REFERENCES models (id),
            left_text INTEGER NOT NULL REFERENCES texts (id),
            right_text INTEGER NOT NULL REFERENCES texts (id),
            forward_entailment REAL,
            forward_neutral REAL,
            forward_contradiction REAL,
            backward_entailment REAL,
            backward_neutral REAL,
            backward_contradiction REAL,
            truncated INTEGER NOT NULL,
            PRIMARY KEY (model, left_text, right_text)
        ) WITHOUT ROWID""",
        """CREATE TABLE reviews (
            id TEXT PRIMARY KEY,
            agent TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'rejected')),
            left_fact TEXT NOT NULL REFERENCES facts (id) DEFERRABLE INITIALLY DEFERRED,
            right_fact TEXT NOT NULL REFERENCES facts (id) DEFERRABLE INITIALLY DEFERRED,
            decision TEXT NOT NULL,
            run TEXT NOT NULL REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
            decided_at TEXT
        )""",
        "CREATE INDEX reviews_by_agent ON reviews (agent, state)",
        "CREATE INDEX reviews_by_left ON reviews (left_fact)",
        "CREATE INDEX reviews_by_right ON reviews (right_fact)",
        """CREATE TABLE states (
            agent TEXT PRIMARY KEY,
            body TEXT NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE entities (
            id INTEGER PRIMARY KEY,
            agent TEXT NOT NULL,
            key TEXT NOT NULL,
            name TEXT NOT NULL,
            UNIQUE (agent, key)
        )""",
        """CREATE TABLE entity_facts (
            entity INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
            fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
            PRIMARY KEY (entity, fact)
        ) WITHOUT ROWID""",
        "CREATE INDEX entity_facts_by_fact ON entity_facts (fact)",
        """CREATE TABLE fact_mentions (
            fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            text TEXT NOT NULL,
            label TEXT NOT NULL,
            score REAL NOT NULL,
            entity INTEGER REFERENCES entities (id) ON DELETE SET NULL,
            PRIMARY KEY (fact, start, stop, label)
        ) WITHOUT ROWID""",
        "CREATE INDEX fact_mentions_by_entity ON fact_mentions (entity)",
    ):
        database.write(statement)


@migration(3)
def staged_vectors(database: Database) -> None:
    """Vectors of the model that is to take over, collected beside those in use."""
    database.write(
        """CREATE TABLE staged_vectors (
            model INTEGER NOT NULL REFERENCES models (id),
            text INTEGER NOT NULL REFERENCES texts (id),
            vector BLOB NOT NULL,
            PRIMARY KEY (model, text)
        )"""
    )


@migration(4)
def passages_and_tombstones(database: Database) -> None:
    """Passages of long texts with their text index, and what was forgotten for good."""
    for statement in (
        # Read off the facts, but not by a trigger: SQL finds no ends of sentences.
        """CREATE TABLE passages (
            number INTEGER PRIMARY KEY,
            fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            start INTEGER NOT NULL,
            stop INTEGER NOT NULL,
            text TEXT NOT NULL,
            content_hash TEXT NOT NULL,
            UNIQUE (fact, position)
        )""",
        "CREATE INDEX passages_by_content ON passages (content_hash)",
        """CREATE VIRTUAL TABLE passages_fts USING fts5 (
            text, content = 'passages', content_rowid = 'number',
            tokenize = 'unicode61 remove_diacritics 2'
        )""",
        """CREATE TRIGGER passages_fts_insert AFTER INSERT ON passages BEGIN
            INSERT INTO passages_fts (rowid, text) VALUES (new.number, new.text);
        END""",
        """CREATE TRIGGER passages_fts_delete AFTER DELETE ON passages BEGIN
            INSERT INTO passages_fts (passages_fts, rowid, text)
            VALUES ('delete', old.number, old.text);
        END""",
        """CREATE TABLE tombstones (
            agent TEXT NOT NULL,
            content_hash TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (agent, content_hash)
        ) WITHOUT ROWID""",
    ):
        database.write(statement)
    long = "SELECT id, text FROM facts WHERE length(text) > ?"
    for fact, text in database.query(long, (PASSAGES_FROM,)):
        database.write_many(INSERT_PASSAGE, passage_rows(fact, text))


@migration(5)
def entity_registry(database: Database) -> None:
    """Entities with type and names to look up by; what people declare about them.

    Keys are made anew by the present rules for names; entities whose keys become equal are one.
    """
    for statement in (
        "ALTER TABLE aliases ADD COLUMN declared_at TEXT",
        "ALTER TABLE entities ADD COLUMN type TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE entities ADD COLUMN note TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE entity_facts ADD COLUMN role TEXT NOT NULL DEFAULT 'mention'",
        "ALTER TABLE entity_facts ADD COLUMN confidence REAL NOT NULL DEFAULT 1.0",
        """CREATE TABLE entity_declarations (
            agent TEXT NOT NULL,
            key TEXT NOT NULL CHECK (key <> ''),
            name TEXT NOT NULL,
            type TEXT NOT NULL,
            note TEXT NOT NULL,
            declared_at TEXT,
            PRIMARY KEY (agent, key)
        ) WITHOUT ROWID""",
        """CREATE TABLE entity_pins (
            agent TEXT NOT NULL,
            fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            entity TEXT NOT NULL CHECK (entity <> ''),
            declared_at TEXT,
            PRIMARY KEY (fact, name, entity)
        ) WITHOUT ROWID""",
        "CREATE INDEX entity_pins_by_agent ON entity_pins (agent)",
        # Every way to write each entity, with the keys under which it is looked up.
        """CREATE TABLE entity_names (
            agent TEXT NOT NULL,
            key TEXT NOT NULL,
            entity INTEGER NOT NULL REFERENCES entities (id) ON DELETE CASCADE,
            text TEXT NOT NULL,
            origin TEXT NOT NULL CHECK (origin IN ('name', 'declared', 'written')),
            sound TEXT NOT NULL,
            first TEXT NOT NULL,
            last TEXT NOT NULL,
            PRIMARY KEY (agent, key, entity, text)
        ) WITHOUT ROWID""",
        "CREATE INDEX entity_names_by_entity ON entity_names (entity)",
        "CREATE INDEX entity_names_by_sound ON entity_names (agent, sound)",
        "CREATE INDEX entity_names_by_first ON entity_names (agent, first)",
        "CREATE INDEX entity_names_by_last ON entity_names (agent, last)",
        """CREATE TABLE entity_doubts (
            agent TEXT NOT NULL,
            fact TEXT NOT NULL REFERENCES facts (id) ON DELETE CASCADE,
            name TEXT NOT NULL,
            candidates TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (fact, name)
        ) WITHOUT ROWID""",
        "CREATE INDEX entity_doubts_by_name ON entity_doubts (agent, name)",
    ):
        database.write(statement)
    rekey_entities(database)
    for (agent,) in database.query("SELECT DISTINCT agent FROM entities"):
        fill_names(database, agent)
