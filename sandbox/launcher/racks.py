"""Which rack an instance has: a file in its folder, or the default one where there is none."""

from pathlib import Path

from sandbox.launcher.errors import SandboxError
from sandbox.rack.reading import DEFAULT, FILE, WrongRack, rack_of, read, shipped


def asked(word: str | None) -> str | None:
    """The text of a rack that was asked for: the name of a shipped one, or a path. Raises SandboxError."""
    if word is None:
        return None
    path = shipped().get(word, Path(word))
    try:
        read(path)
        return path.read_text(encoding="utf-8")
    except WrongRack as error:
        raise SandboxError(str(error)) from error
    except OSError as error:
        names = ", ".join(shipped())
        raise SandboxError(f"{path} cannot be read: {error.strerror}.\n  Racks by name: {names}.") from error


def require(folder: Path) -> None:
    """Raises SandboxError if the file of an instance's rack is none."""
    try:
        rack_of(folder)
    except WrongRack as error:
        raise SandboxError(f"{error}\n  Mend it, or choose another: reset --rack NAME.") from error


def kept(folder: Path) -> str:
    """The text of the rack that an instance has."""
    own = folder / FILE
    return (own if own.exists() else shipped()[DEFAULT]).read_text(encoding="utf-8")


def keep(folder: Path, text: str) -> None:
    """Give an instance a rack. What was made of another one, in databases and on switches, has to be gone."""
    whole = folder / f"{FILE}.new"
    whole.write_text(text, encoding="utf-8")
    whole.replace(folder / FILE)
