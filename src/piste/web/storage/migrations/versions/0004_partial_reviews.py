"""A review that is not finished is kept, so that another process can show it and go on with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "partial_reviews",
        sa.Column("room", sa.String(32), sa.ForeignKey("rooms.code", ondelete="CASCADE"), primary_key=True),
        sa.Column("done", sa.Integer, nullable=False),
        sa.Column("total", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("evaluations", sa.Text, nullable=False),
        sa.Column("failed", sa.Text, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("partial_reviews")
