"""Run by alembic for each command; logging is left as it is."""

from __future__ import annotations

from alembic import context

from piste.web.storage.schema import metadata

# Whoever asked opened the transaction and ends it: all steps are taken, or none.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    render_as_batch=True,  # SQLite changes a table by making it anew
)
with context.begin_transaction():
    context.run_migrations()
