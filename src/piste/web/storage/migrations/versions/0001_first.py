"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:  # constraints get their names from the metadata
    op.create_table(
        "rooms",
        sa.Column("code", sa.String(32), primary_key=True),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("host", sa.String(64), nullable=False),
        sa.Column("listed", sa.Boolean, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("touched", sa.Double, nullable=False),
        sa.Column("ended", sa.Double, nullable=True),
        sa.Column("previous", sa.String(32), nullable=True),
        sa.Column("successor", sa.String(32), nullable=True),
    )
    op.create_index("ix_rooms_touched", "rooms", ["touched"])
    op.create_index("ix_rooms_listed_ended_touched", "rooms", ["listed", "ended", "touched"])
    op.create_table(
        "seats",
        sa.Column("room", sa.String(32), sa.ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
        sa.Column("seat", sa.Integer, autoincrement=False, primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("bot", sa.String(64), nullable=False),
        sa.Column("stand_in", sa.String(64), nullable=False),
    )
    op.create_table(
        "sitters",
        sa.Column("room", sa.String(32), primary_key=True),
        sa.Column("seat", sa.Integer, autoincrement=False, primary_key=True),
        sa.Column("player", sa.String(64), primary_key=True),
        sa.ForeignKeyConstraint(["room", "seat"], ["seats.room", "seats.seat"], ondelete="CASCADE"),
    )
    op.create_index("ix_sitters_player", "sitters", ["player"])
    op.create_table(
        "lines",
        sa.Column("room", sa.String(32), sa.ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
        sa.Column("n", sa.Integer, autoincrement=False, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "players",
        sa.Column("player", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("seen", sa.Double, nullable=False),
    )
    op.create_table(
        "reviews",
        sa.Column("room", sa.String(32), sa.ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )
    op.create_table(
        "keys",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    for table in ("keys", "reviews", "players", "lines", "sitters", "seats", "rooms"):
        op.drop_table(table)
