"""Codes of rooms, tokens of devices and seats, and the private links of seats."""

from __future__ import annotations

import base64
import hashlib
import secrets
from functools import lru_cache

from piste.web.tables.registry import CODE_ALPHABET, CODE_LENGTH


class TokenFactory:
    """Makes codes and tokens."""

    def code(self) -> str:
        """Return a code for a room: 80 bits."""
        return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))

    def token(self) -> str:
        """Return a token for a device: 256 bits."""
        return secrets.token_urlsafe(32)


def player_of(token: str) -> str:
    """Return the id of a device: its token is not stored."""
    return hashlib.sha256(token.encode()).hexdigest()


@lru_cache(maxsize=4096)  # every news of a table shows the link again
def seat_token(key: bytes, code: str, seat: int, revoked: int) -> str:
    """Return the secret part of a seat's private link, after so many were revoked."""
    # The first link is the one from before links could be revoked.
    text = f"{code}/{seat}" + (f"/{revoked}" if revoked else "")
    digest = hashlib.blake2b(text.encode(), key=key, digest_size=24).digest()
    return base64.urlsafe_b64encode(digest).decode()
