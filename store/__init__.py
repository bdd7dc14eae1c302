"""The journal of facts: what is recorded, how it is kept, and how it is read again."""

from __future__ import annotations
