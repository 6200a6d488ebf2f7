import pytest

from xlrepro.book.notebooks.parameters import check, declared
from xlrepro.errors import SettingsError

from ..conftest import notebook


def test_parameters_are_read_from_the_tagged_cell():
    assert declared(notebook("later = 3"), "a.ipynb") == {
        "profile": "smoke",
        "seeds": [0],
        "factor": 1.0,
        "scheduler": None,
    }


def test_notebook_without_parameters_cell_is_refused():
    bare = notebook()
    bare["cells"][0]["metadata"] = {}
    with pytest.raises(SettingsError, match=r"a\.ipynb has 0 cells tagged 'parameters'"):
        declared(bare, "a.ipynb")


def test_computed_default_is_refused():
    with pytest.raises(SettingsError, match="'seeds' must be a plain value"):
        declared(notebook(parameters="seeds = list(range(3))"), "a.ipynb")


def test_unknown_parameter_is_an_error_that_names_the_known_ones():
    with pytest.raises(SettingsError, match=r"no parameter 'sedes'; it has: seeds, device"):
        check({"sedes": [1]}, {"seeds": [0], "device": "auto"}, "a.ipynb")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("seeds", [3, 4], [3, 4]),
        ("seeds", "3,4", [3, 4]),
        ("seeds", 3, [3]),
        ("systems", "ORT", ["ORT"]),
    ],
)
def test_value_of_a_list_parameter_becomes_a_list(name, value, expected):
    assert check({name: value}, {"seeds": [0], "systems": []}, "a.ipynb") == {name: expected}


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("device", "tpu", "one of auto, cpu, cuda; not 'tpu'"),
        ("seeds", ["0-2"], r"whole numbers of 0 or more, as in seeds=0,1,2; not \['0-2'\]"),
        ("seeds", [-1], "whole numbers"),
        ("seeds", [True], "whole numbers"),
        ("systems", [3], "names of systems"),
        ("jobs", 0, "a whole number of 1 or more"),
        ("scheduler", 8786, "the address of a Dask scheduler"),
        ("scheduler", "", "the address of a Dask scheduler"),
        ("profile", "smok", "one of smoke, open, paper"),
    ],
)
def test_value_that_no_notebook_runs_with_is_refused_and_says_what_is_allowed(name, value, allowed):
    known = {"profile": "smoke", "seeds": [0], "systems": [], "device": "auto"}
    known |= {"scheduler": None, "jobs": None}
    with pytest.raises(SettingsError, match=rf"a\.ipynb: parameter '{name}' must be {allowed}"):
        check({name: value}, known, "a.ipynb")


def test_whole_number_becomes_a_float_where_the_default_is_one():
    fitted = check({"factor": 2}, {"factor": 0.5}, "a.ipynb")["factor"]
    assert isinstance(fitted, float)


def test_value_of_another_type_is_refused():
    with pytest.raises(SettingsError, match="parameter 'epochs' is a int"):
        check({"epochs": "many"}, {"epochs": 3}, "a.ipynb")


def test_part_of_a_list_that_is_not_yaml_is_refused():
    with pytest.raises(SettingsError, match=r"a\.ipynb: parameter 'seeds': the value is not YAML"):
        check({"seeds": "1,["}, {"seeds": [0]}, "a.ipynb")
