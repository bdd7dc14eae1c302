"""Why a step that the run carries out by itself cannot be carried out."""

from __future__ import annotations


class ControlError(ValueError):
    """A control step cannot be carried out over the values at hand."""
