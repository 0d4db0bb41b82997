"""`deniable associate` and questions of several fields, as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.errors import InvalidParameter
from material.commands import call, run
from material.surveys import BOOLEAN, asked, listed, several, survey

SURVEY = survey(
    several(
        "device",
        ("dark", BOOLEAN, "krr", "epsilon = 1.5"),
        ("host", listed("hosts.txt"), "rappor", "epsilon = 2.5, k = 64, m = 8"),
        ("memory", '{ type = "numbers", edges = [4, 8] }', "oue", "epsilon = 2.0"),
        description="What kind of device?",
    ),
    asked("plain", description="One thing?"),
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "survey.toml").write_text(SURVEY)
    (folder / "hosts.txt").write_text("mail\nnews\nmaps\n")
    call("publish", folder / "survey.toml", "-o", folder / "survey.json")
    where = ("--survey", folder / "survey.json", "--data", folder / "data")
    call("simulate", "device", "--people", 20_000, "--seed", 3, *where)
    return folder


def associate(project: Path, *arguments: object) -> str:
    where = ("--survey", project / "survey.json", "--data", project / "data")
    return call("associate", "device", *arguments, *where)


def test_check_and_explain_show_the_sum_over_the_fields(project: Path) -> None:
    text = call("check", project / "survey.toml")
    assert "device: one report has epsilon 6 = dark 1.5 + host 2.5" in text
    assert "plain" not in text
    read = json.loads(call("check", project / "survey.toml", "--json"))["questions"]
    assert read[0]["fields"] == {"dark": 1.5, "host": 2.5, "memory": 2.0}
    assert [question["epsilon"] for question in read] == [6.0, 1.0]
    assert "That is the sum over its fields" in call("explain", project / "survey.toml")


@pytest.mark.parametrize(
    "spelling", [("--fields", "dark", "host"), ("--fields", "dark,host"),
                 ("--fields", "dark", "--fields", "host")],
)  # fmt: skip
def test_fields_can_be_named_in_three_ways(project: Path, spelling: tuple[str, ...]) -> None:
    read = json.loads(associate(project, *spelling, "--json"))
    assert read["fields"] == ["dark", "host"]
    assert read["n"] == 20_000
    assert sum(cell["probability"] for cell in read["rows"]) == pytest.approx(1)
    # Simulated fields are independent: by this fixed seed nothing is found.
    assert read["parts"]["tests"]["rows"][0]["p_value"] > 0.001


def test_a_crowd_whose_answers_go_together_is_found(project: Path, tmp_path: Path) -> None:
    where = ("--survey", project / "survey.json", "--data", tmp_path)
    call("simulate", "device", "--people", 5_000, "--seed", 3, "--together", 0.5, *where)
    read = json.loads(call("associate", "device", "--fields", "dark", "memory", "--json", *where))
    assert read["parts"]["tests"]["rows"][0]["p_value"] < 1e-9


def test_text_and_files(project: Path) -> None:
    names = [project / "out" / f"heat.{end}" for end in ("csv", "png", "html")]
    outputs = [part for name in names for part in ("-o", name)]
    text = associate(project, "--fields", "memory", "dark", *outputs)
    assert "P(dark | memory)" in text
    assert "There is no evidence that memory and dark depend" in text
    assert all(name.stat().st_size > 100 for name in names)


def test_all_fields_are_taken_pair_by_pair(project: Path) -> None:
    read = json.loads(associate(project, "--top", 2, "--json"))
    assert read["fields"] == ["dark", "host", "memory"]
    assert len(read["parts"]["tests"]["rows"]) == 3
    assert all(test["p_holm"] >= test["p_value"] for test in read["parts"]["tests"]["rows"])


def test_candidates_by_field_or_for_all_strings(project: Path) -> None:
    given = project / "given.txt"
    given.write_text("maps\nmail\n")
    fields = ("--fields", "host", "dark", "--json")
    for option in (f"host={given}", str(given)):
        read = json.loads(associate(project, *fields, "--candidates", option))
        assert read["labels"]["host"] == ["maps", "mail", "(other)"]
    read = json.loads(associate(project, *fields, "--candidates", f"host={given}", "--no-other"))
    assert read["labels"]["host"] == ["maps", "mail"]
    yes = project / "yes.txt"
    yes.write_text("true\n")
    read = json.loads(associate(project, *fields, "--candidates", f"dark={yes}"))
    assert read["labels"]["dark"] == ["true", "(other)"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--fields", "dark", "nothing"), "has no field 'nothing'"),
        (("--fields", "dark"), "two or more different fields"),
        (("--fields", "dark", "memory", "--candidates", "host=absent.txt"), "absent.txt"),
        (("--fields", "dark", "host", "-o", "heat.exe"), "must end in one of"),
    ],
)
def test_mistakes_are_said(project: Path, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words):
        associate(project, *arguments)


def test_a_question_of_one_field_has_nothing_to_associate(project: Path) -> None:
    with pytest.raises(InvalidParameter, match="has one field"):
        call("associate", "plain", "--survey", project / "survey.json")


def test_a_second_interval_for_crafted_reports(project: Path) -> None:
    fields = ("--fields", "dark", "memory", "--crafted", 0.01)
    read = json.loads(associate(project, *fields, "--json"))
    assert read["crafted"] == 0.01
    for cell in read["rows"]:
        (low, high), (lowest, highest) = cell["interval"], cell["crafted_interval"]
        assert 0 <= lowest < low < high < highest <= 1
        for what in ("conditional", "odds_ratio"):
            assert cell[f"{what}_crafted_interval"][0] < cell[f"{what}_interval"][0]
    least, most = read["parts"]["tests"]["rows"][0]["crafted_p_value"]
    assert least <= read["parts"]["tests"]["rows"][0]["p_value"] <= most
    text = associate(project, *fields)
    assert "a share of 0.01 crafted reports" in text
    assert "With 0.01 of the reports crafted, dark and memory" in text
    wrong = run("associate", "device", "--crafted", "1.5")
    assert wrong.exit_code == 2


def test_the_methods_of_the_papers_by_name(project: Path) -> None:
    read = json.loads(
        associate(project, "--given", "dark", "--solver", "em", "--method", "wald",
                  "--confidence", 0.9, "--other-profile", "flat", "--json")
    )  # fmt: skip
    assert (read["level"], read["fit"]["solver"]) == (0.9, "em")
    assert {row["method"] for row in read["parts"]["tests"]["rows"]} == {"wald"}
    assert "P(host | dark)" in read["parts"]
    assert "P(memory | dark)" in associate(project, "--given", "dark")
    with pytest.raises(InvalidParameter, match="must leave one"):
        associate(project, "--fields", "dark,host", "--given", "dark", "--given", "host")
