"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "rooms",
        sa.Column("code", sa.String(32), nullable=False),
        sa.Column("game", sa.String(64), nullable=False),
        sa.Column("options", sa.Text, nullable=False),
        sa.Column("host", sa.String(64), nullable=False),
        sa.Column("listed", sa.Boolean, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("touched", sa.Double, nullable=False),
        sa.Column("ended", sa.Double, nullable=True),
        sa.Column("previous", sa.String(32), nullable=True),
        sa.Column("successor", sa.String(32), nullable=True),
        sa.PrimaryKeyConstraint("code", name="pk_rooms"),
    )
    op.create_index("ix_rooms_touched", "rooms", ["touched"])
    op.create_index("ix_rooms_listed_ended_touched", "rooms", ["listed", "ended", "touched"])
    op.create_table(
        "seats",
        sa.Column("room", sa.String(32), nullable=False),
        sa.Column("seat", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("bot", sa.String(64), nullable=False),
        sa.Column("stand_in", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("room", "seat", name="pk_seats"),
        sa.ForeignKeyConstraint(["room"], ["rooms.code"], name="fk_seats_room", ondelete="CASCADE"),
    )
    op.create_table(
        "sitters",
        sa.Column("room", sa.String(32), nullable=False),
        sa.Column("seat", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("player", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("room", "seat", "player", name="pk_sitters"),
        sa.ForeignKeyConstraint(
            ["room", "seat"], ["seats.room", "seats.seat"], name="fk_sitters_room_seat", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_sitters_player", "sitters", ["player"])
    op.create_table(
        "lines",
        sa.Column("room", sa.String(32), nullable=False),
        sa.Column("n", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("room", "n", name="pk_lines"),
        sa.ForeignKeyConstraint(["room"], ["rooms.code"], name="fk_lines_room", ondelete="CASCADE"),
    )
    op.create_table(
        "players",
        sa.Column("player", sa.String(64), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("seen", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("player", name="pk_players"),
    )
    op.create_table(
        "reviews",
        sa.Column("room", sa.String(32), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("room", name="pk_reviews"),
        sa.ForeignKeyConstraint(["room"], ["rooms.code"], name="fk_reviews_room", ondelete="CASCADE"),
    )
    op.create_table(
        "keys",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_keys"),
    )


def downgrade() -> None:
    for table in ("keys", "reviews", "players", "lines", "sitters", "seats", "rooms"):
        op.drop_table(table)
