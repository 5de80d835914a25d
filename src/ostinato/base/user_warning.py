"""Warnings that point at the line of the user who asked, not at ours."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType

PACKAGE = str(Path(__file__).parents[1]) + os.sep


def warn_user(warning: Warning) -> None:
    level = 2
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level += 1
        frame = frame.f_back
    warnings.warn(warning, stacklevel=level)
