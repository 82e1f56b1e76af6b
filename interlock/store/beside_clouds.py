"""Files beside clouds.yaml that say how an operator's machine asks something: switches, UFM."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.faults import Faults
from interlock.model.text.source import Source
from interlock.model.text.validation import FileModel, well_formed

from .places import beside_clouds

M = TypeVar("M", bound=FileModel)


@dataclass(frozen=True)
class FileBesideClouds:
    """Such a file: its usual name, the variable that names another one, and the page about it."""

    name: str
    variable: str
    page: str

    def in_use(self) -> Path:
        """The one that the variable names, else the one beside the clouds.yaml in use."""
        named = os.environ.get(self.variable)
        return Path(named).absolute() if named else beside_clouds() / self.name

    def read(self, model: type[M], file: Path) -> tuple[M, Faults]:
        """What a file says, and where further faults are collected. Raises InputErrors with every fault of form."""
        if not file.exists():
            hint = f"write it ({self.page}), or name another in {self.variable}"
            raise InputErrors([InputError(Code.NO_FILE, str(file), "there is no such file", hint)])
        form = well_formed(model, Source.read(file, str(file)))
        if form.file is None:
            raise InputErrors(form.errors)
        return form.file, Faults.of(form)
