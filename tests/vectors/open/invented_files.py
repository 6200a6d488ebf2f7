"""Registered files of open text with invented content."""

from xlrepro.vectors.open import sources

FULL_STOP = "1\t.\t.\tPUNCT\t_\t_\t0\troot\t_\t_\n"  # CoNLL-U; of no use to other readers


def invent(texts, folder, monkeypatch):
    """Let the files of open text have these texts by their paths, all others a full stop."""

    def local_path(path):
        file = folder / path.replace("/", "-")
        file.write_text(texts.get(path, FULL_STOP), "utf-8")
        return file

    monkeypatch.setattr(sources, "local_path", local_path)
