"""Codes of rooms, tokens of devices and seats, and the private links of seats."""

from __future__ import annotations

import base64
import hashlib
import secrets
import string
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


SEAT_BEARER = "seat_"
TOKEN_CHARS = 43  # the length of a device's token


def seat_bearer(token: str) -> str:
    """Return the token of a program that has one seat and nothing else."""
    return SEAT_BEARER + token


def is_token(text: str) -> bool:
    """Say whether this could be the token of a device."""
    return len(text) == TOKEN_CHARS and set(text) <= TOKEN_LETTERS


TOKEN_LETTERS = frozenset(string.ascii_letters + string.digits + "-_")


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
