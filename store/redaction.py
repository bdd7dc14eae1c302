"""Store URLs as they may be shown."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit


def without_password(url: str) -> str:
    """Return a URL without the password before its host or among its options."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    options = "&".join(option for option in parts.query.split("&") if not option.startswith("password="))
    return urlunsplit(parts._replace(netloc=user.partition(":")[0] + at + host, query=options))
