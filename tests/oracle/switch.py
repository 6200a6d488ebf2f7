"""Rewrite published records of schema 2 as schema 3: ``python -m tests.oracle.switch``."""

import json

from xlrepro.data.registry import list_datasets
from xlrepro.paths import data_dir
from xlrepro.store import write_atomically
from xlrepro.trials import FIELDS, Record, Trial

GONE = ("schema", "checksum", "fingerprint", "sources", "numerical_class")


def main() -> None:
    """Rewrite every file; only the hashes of registered files stay among the data."""
    known = {
        f"{d.name}/{file_id}": f.sha256 for d in list_datasets() for file_id, f in d.files.items()
    }
    other: set[str] = set()
    for path in sorted((data_dir() / "results").glob("*/*.jsonl")):
        if path.parent.name == "benchmarks":
            continue
        lines = []
        for line in path.read_text("utf-8").split("\n"):
            if not line.strip():
                continue
            old = json.loads(line)
            if old["schema"] == 2:
                other |= {n for n in old["data"] if n in known and known[n] != old["data"][n]}
                data = {n: digest for n, digest in old["data"].items() if n in known}
                old = {k: v for k, v in old.items() if k not in GONE} | {"data": data}
                trial = Trial.create(**{k: old[k] for k in FIELDS if k in old})
                old |= {"schema": 3, "version": 1, "key": trial.key}
            lines.append(Record.model_validate(old).to_json() + "\n")
        write_atomically(path, "".join(lines))
        print(path, len(lines))
    print("hashes that are not the registry's:", sorted(other))


if __name__ == "__main__":
    main()
