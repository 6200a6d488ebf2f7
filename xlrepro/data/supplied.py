"""Files that a user supplies, because nobody may download them: what, where, which are missing.

``data/registry/supplied.yaml`` says of each set what it is, where it is to be had, and under which
licence. Paths are those below the folder of supplied files (``paths.supplied_dir``).
"""

import itertools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from xlrepro.data.loading import read_sentences
from xlrepro.data.readers.columns import read_conll_ner, read_conllu
from xlrepro.data.readers.labelled import read_pairs, read_reviews
from xlrepro.data.readers.text_files import numbered_lines, rows_of
from xlrepro.data.readers.trees import read_graphs, read_tree_file
from xlrepro.data.readers.vec import read_vec
from xlrepro.data.registry import note_supplied
from xlrepro.errors import DataError
from xlrepro.paths import data_dir, supplied_dir
from xlrepro.values import Checked, read_model, read_yaml

RELEASE = "ud-treebanks-v2.2"
UTTERANCES = "fb-multilingual-nlu"
ALIGNED, WIKI = "fasttext-aligned", "fasttext-wiki"
CONLL = "conll-ner"
REVIEWS = "cls-acl10"
UNSUPERVISED = ("muse", "umwe")  # vectors mapped here without a dictionary, of ``WIKI``


def _packed(path: Path) -> list[str]:
    """Return the names of what a file of JSON or tensors holds; both are read as a whole."""
    try:
        if path.suffix == ".json":
            return list(json.loads(path.read_bytes()))
        with safe_open(path, "numpy") as file:
            return list(file.keys())
    except (ValueError, TypeError, RecursionError, SafetensorError) as error:
        why = " ".join(str(error).split())
        raise DataError(f"{path} is not a whole {path.suffix} ({why}): copy it again") from None


# How files are read, by their folder, or else by the topmost, or by their ending
LABELLED: dict[str, Callable[[Path], Iterable[object]]] = {
    RELEASE: read_conllu, "ud-treebanks-v2.4": read_conllu, CONLL: read_conll_ner,
    REVIEWS: read_reviews, "multinli_1.0": read_pairs,
    "routing-nmt/ptb": read_tree_file, "routing-nmt/amr-2.0": read_graphs,
    "routing-nmt": numbered_lines,  # parallel text of some megabytes
    UTTERANCES: partial(read_sentences, UTTERANCES),
    ".json": _packed, ".safetensors": _packed,
}  # fmt: skip
TEXTS = {"wikipedia": numbered_lines, "language-model-text": numbered_lines,
         "ramen-parallel": partial(rows_of, n_columns=2, exact=True),
         ".vec": lambda path: read_vec(path, 1000)[0]}  # fmt: skip
CHOICE = re.compile(r"\{([^}]*)\}")


class SuppliedSet(Checked):
    """Files of one origin.

    Attributes:
        title: for people.
        home: where they are to be had.
        licence: under which they come.
        layout: how they must lie.
        files: paths; ``{a,b}`` stands for several, ``{ud}`` for the treebanks of UD 2.2.
        counts: published number of sentences, or pairs with a label, in some of the files.
    """

    title: str
    home: str
    licence: str
    layout: str
    files: tuple[str, ...]
    counts: dict[str, int] = {}  # noqa: RUF012 # pydantic copies it

    def paths(self) -> list[str]:
        """Return the path of each file, or of its folder."""
        return [path for pattern in self.files for path in _expanded(pattern)]


def _expanded(pattern: str) -> Iterator[str]:
    parts = CHOICE.split(pattern.replace("{ud}", "UD_{treebanks}"))
    known = {"treebanks": [name for names in treebanks().values() for name in names]}
    # Every second part is what stood between brackets.
    choices = [known.get(p, p.split(",")) if n % 2 else [p] for n, p in enumerate(parts)]
    return map("".join, itertools.product(*choices))


@cache
def _sets(folder: Path) -> dict[str, SuppliedSet]:
    return read_model(folder / "registry" / "supplied.yaml", dict[str, SuppliedSet])


def needed(reads: Collection[str]) -> list[tuple[str, SuppliedSet, list[str]]]:
    """Return of which sets some files are, with their paths; where a set has folders, these.

    Args:
        reads: paths that trials read (`xlrepro.experiments.files_of`).
    """
    above = {*reads, *(str(folder) for path in reads for folder in Path(path).parents)}
    sets = _sets(data_dir()).items()
    found = [(name, about, sorted(above & {*about.paths()})) for name, about in sets]
    return [each for each in found if each[2]]


def is_there(path: Path) -> bool:
    """Tell whether a supplied file holds something, or a treebank's folder a training and test set.

    All that are listed have both.
    """
    if path.name.startswith("UD_"):
        return all(any(path.glob(f"*-ud-{split}*.conllu")) for split in ("train", "test"))
    return path.is_file() and path.stat().st_size > 0


def files(names: Sequence[str]) -> list[Path]:
    """Return supplied files, or folders of treebanks, each as `is_there` wants it.

    Whoever opens a file calls `opened` or `note_supplied`.

    Raises:
        DataError: naming all that are not there, and what to do about them.
    """
    root = supplied_dir()
    missing = [name for name in names if not is_there(root / name)]
    if missing:
        sets = _sets(data_dir()).values()
        tops = {name.partition("/")[0] for name in missing}
        about = [s for s in sets if tops & {path.partition("/")[0] for path in s.paths()}]
        put = "; ".join(f"{s.title} ({s.home}), {s.layout}" for s in about) or "these files"
        raise DataError(
            f"no {', '.join(missing)} below {root} (files with content, folders UD_… with training "
            f"and test set): put there {put}; or set XLREPRO_SUPPLIED to the folder above "
            f"{', '.join(sorted(tops))}"
        )
    return [root / name for name in names]


def check(names: Sequence[str], *, texts: bool = True) -> None:
    """Check that files are whole and can be read: a trial may open them after days.

    Args:
        names: paths below the folder of supplied files.
        texts: whether running text is read through, too, and the first word vectors: a gigabyte
            takes five seconds.

    Raises:
        DataError: for the first line that is wrong, with file and number, or a file cut off.
    """
    sets = _sets(data_dir()).values() if names else ()
    counts = {file: count for each in sets for file, count in each.counts.items()}
    readers: dict[str, Any] = LABELLED | (TEXTS if texts else {})
    sizes: dict[Path, tuple[int, Path]] = {}  # of vectors of a folder, of sides of parallel text
    for name in names:
        place = supplied_dir() / name
        kinds = name.rpartition("/")[0], name.partition("/")[0], place.suffix
        read = next((readers[kind] for kind in kinds if kind in readers), None)
        for file in sorted(place.glob("*.conllu")) or [place]:
            found = sum(1 for _ in read(file)) if read else 0
            end = b"\n\n" if read is read_conllu else b"\n"
            stated = counts.get(file.relative_to(supplied_dir()).as_posix())
            with file.open("rb") as stream:
                stream.seek(max(0, file.stat().st_size - 4))
                whole = stream.read().replace(b"\r", b"").endswith(end)
            if read and not found:
                why = "nothing that can be read"
            elif stated:
                why = f"{found} of {stated} sentences or labelled pairs" * (found != stated)
            else:
                cut = not whole and read is not _packed
                why = "a last line without its end, or a last sentence without an empty line" * cut
            of = file.with_suffix("") if read is numbered_lines else file
            size, unit = found, "lines"
            if place.suffix == ".vec":
                size, unit, of = read_vec(file, 1)[1].shape[1], "dimensions", file.parent
            wanted, other = sizes.setdefault(of, (size, file))
            if size != wanted:
                why = f"{size} {unit}, {other.name} beside it {wanted}"
            if why:
                raise DataError(f"{file} has {why}: it is damaged or another file; copy it again")


def opened(name: str) -> Path:
    """Return a supplied file that is to be read now; the trial's record names its content.

    Raises:
        DataError: if it is not there, or cannot be read.
    """
    return note_supplied(files([name])[0])


@cache
def treebanks() -> dict[str, list[str]]:
    """Return the UD 2.2 treebanks of each language, as Ahmad et al. (2019) list them."""
    file = resources.files("xlrepro.data") / "treebanks.yaml"
    return dict(read_yaml(file))


def _treebanks_of(language: str) -> list[str]:
    if language not in treebanks():
        known = ", ".join(treebanks())
        raise DataError(f"no treebank of {language!r} is listed; there are: {known}")
    return treebanks()[language]


def release_files(language: str, split: str) -> list[Path]:
    """Return the files of a language in the official UD v2.2 release, in the order of the list.

    A treebank may lack a dev set, as Slovenian-SST does. GitHub has a training set of Czech in
    parts (``cs_pdt-ud-train-c.conllu``): they are read one after the other.

    Raises:
        DataError: if a listed treebank is not there, or none has such a split.
    """
    found: list[Path] = []
    for folder in files([f"{RELEASE}/UD_{name}" for name in _treebanks_of(language)]):
        stem = f"{language}_{folder.name.split('-')[-1].lower()}-ud-{split}"
        found += sorted(folder.glob(f"{stem}.conllu")) or sorted(folder.glob(f"{stem}-?.conllu"))
    if not found:
        raise DataError(f"no {split} file of {language} in {RELEASE}: unpack the release again")
    return found


def review_file(language: str, domain: str, split: str) -> str:
    """Return where reviews lie: a label and a text a line, a tab between."""
    return f"{REVIEWS}/{language}/{domain}/{split}.tsv"


def vectors_of(kind: str, languages: Sequence[str]) -> dict[str, Path]:
    """Return language to fastText vectors, ``ALIGNED`` or of its Wikipedia alone, ``WIKI``.

    Raises:
        DataError: as `files`.
    """
    return dict(zip(languages, files(vector_files(kind, languages)), strict=True))


def vector_files(kind: str, languages: Sequence[str]) -> list[str]:
    """Return the paths of fastText vectors below the folder of supplied files."""
    ending = "align.vec" if kind == ALIGNED else "vec"
    return [f"{kind}/wiki.{language}.{ending}" for language in languages]


def read_by(
    corpus: str, vectors: str, languages: Sequence[str], parts: Sequence[tuple[str, str]]
) -> list[str]:
    """Return the supplied files that a trial reads, and folders of treebanks.

    Args:
        corpus: its name, as in settings.
        vectors: name of the word vectors.
        languages: that it needs vectors of.
        parts: (language, split) of what it reads.
    """
    paths = [f"{CONLL}/{code}/{split}" for code, split in parts] if corpus == CONLL else []
    if corpus in (CONLL, REVIEWS) and vectors in UNSUPERVISED:
        paths += vector_files(WIKI, languages)
    if corpus == "ud-release":
        codes = dict.fromkeys(language for language, _ in parts)
        paths += [f"{RELEASE}/UD_{name}" for code in codes for name in _treebanks_of(code)]
    if corpus == f"{UTTERANCES}-official" and ("en", "train") in parts:
        paths.append(f"{UTTERANCES}/train-en.conllu")
    paths += vector_files(ALIGNED, languages) if vectors == ALIGNED else []
    return list(dict.fromkeys(paths))
