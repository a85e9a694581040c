"""Several processes may serve the same tables: rooms have versions, and processes say who is connected to them.

The columns that are new have defaults, so that a server of the version before can go on while this step is taken.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("rooms", sa.Column("version", sa.Integer, nullable=False, server_default="0"))
    # What these two hold is worth nothing after a crash of the database: they need not be in its journal.
    op.create_table(
        "processes",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("renewed", sa.Double, nullable=False),
        prefixes=["UNLOGGED"] if op.get_bind().dialect.name == "postgresql" else [],
    )
    op.create_table(
        "presence",
        sa.Column("process", sa.String(32), sa.ForeignKey("processes.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("room", sa.String(32), primary_key=True),
        sa.Column("seat", sa.Integer, autoincrement=False, primary_key=True),
        sa.Column("sockets", sa.Integer, nullable=False),
        sa.Column("seen", sa.Double, nullable=False),
        prefixes=["UNLOGGED"] if op.get_bind().dialect.name == "postgresql" else [],
    )
    op.create_index("ix_presence_room", "presence", ["room"])


def downgrade() -> None:
    op.drop_table("presence")
    op.drop_table("processes")
    op.drop_column("rooms", "version")
