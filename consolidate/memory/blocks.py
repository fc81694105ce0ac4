"""Named blocks of text that an agent keeps at hand.

A block is what the agent itself writes and reads as a whole: a profile, a list of open tasks. It
has a size limit, a version that rises with each change, and a past.
"""

from __future__ import annotations

from consolidate.errors import InputError, NotFoundError
from consolidate.memory.base import MemoryPart
from consolidate.store import Block, BlockVersion

__all__ = ["BlocksPart"]


class BlocksPart(MemoryPart):
    """A memory's verbs for blocks."""

    def recall_memory_block(self, name: str) -> Block | None:
        """Return a block, or None if there is none of this name."""
        return self.store.block(self.agent, name)

    def memory_blocks(self) -> list[Block]:
        """Return all blocks, sorted by name."""
        return self.store.blocks(self.agent)

    def replace_memory_block(
        self, name: str, content: str, *, version: int | None = None, limit: int | None = None
    ) -> Block:
        """Give a block new content; a block that is not there is made.

        Args:
            name: Its name.
            content: All that it holds from now on.
            version: The version that the content was made from, 0 for none; None takes whatever
                is there.
            limit: Characters it may have from now on; 100,000 unless set.

        Raises:
            BlockChangedError: The block has another version; names both.
            InputError: The content is longer than the limit, or can't be stored.
        """
        return self.store.write_block(
            self.agent, name, content, now=self.now(), version=version, limit=limit
        )

    def edit_memory_block(
        self, name: str, old_text: str, new_text: str, *, version: int | None = None
    ) -> tuple[Block, int]:
        """Replace a text wherever it stands in a block.

        Returns:
            The block, and how often the text stood in it.

        Raises:
            NotFoundError: There is no such block.
            InputError: `old_text` is empty or does not stand in the block.
            BlockChangedError: The block has another version; names both.
        """
        if not old_text:
            raise InputError(f"old_text is empty: say what is to be replaced in block {name!r}")
        with self.store.atomic():
            block = self.recall_memory_block(name)
            if block is None:
                raise NotFoundError(f"{self.agent!r} has no block {name!r}; append to it makes one")
            count = block.content.count(old_text)
            if not count:
                shown = old_text if len(old_text) <= 60 else f"{old_text[:57]}..."
                raise InputError(f"{shown!r} does not stand in block {name!r}; read it again")
            content = block.content.replace(old_text, new_text)
            return self.replace_memory_block(name, content, version=version), count

    def append_memory_block(self, name: str, content: str, *, version: int | None = None) -> Block:
        """Add lines at the end of a block; a block that is not there is made.

        Raises:
            BlockChangedError: The block has another version; names both.
            InputError: There is nothing to add, or the block would be longer than its limit.
        """
        return self.store.append_block(self.agent, name, content, now=self.now(), version=version)

    def delete_memory_block(self, name: str) -> bool:
        """Delete a block and all it held before; False if there is none."""
        return self.store.delete_block(self.agent, name)

    def block_history(self, name: str) -> list[BlockVersion]:
        """What a block has held, newest first, the present content included.

        Raises:
            NotFoundError: There is no such block.
        """
        found = self.store.block_history(self.agent, name)
        if not found:
            raise NotFoundError(f"{self.agent!r} has no block {name!r}")
        return found
