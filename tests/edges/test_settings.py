"""Settings: the stronger place wins, every value knows where it comes from, and every mistake names its file and line."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import BadInput, Settings
from tocsin.contracts.lanes import Route
from tocsin.edges.settings import keys, load, project_file, user_file
from tocsin.edges.toml_places import line_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / "deep").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(project: Path, environ: dict[str, str], **more: object) -> str:
    with pytest.raises(BadInput) as caught:
        load(directory=project, environ=environ, **more)
    return str(caught.value)


def test_without_any_place_everything_has_its_default(project: Path, environ: dict[str, str]) -> None:
    loaded = load(directory=project, environ=environ)
    assert loaded.settings == Settings()
    assert (loaded.origins, loaded.files) == ({}, ())
    assert {one.origin for one in loaded.all()} == {"default"}


def test_flags_win_over_environment_over_project_over_user_over_defaults(project: Path, environ: dict[str, str]) -> None:
    user = write(user_file(environ), "[dedup]\nwindow = 1\n[throttle]\nwindow = 1\nburst = 1\n[hold]\nwindow = 1\n")
    near = write(project / ".tocsin.toml", "[dedup]\nwindow = 2\n[throttle]\nwindow = 2\n[hold]\nwindow = 2\n")
    environ |= {"TOCSIN_DEDUP__WINDOW": "3", "TOCSIN_THROTTLE__WINDOW": "3"}
    loaded = load(directory=project / "deep", environ=environ, flags={"dedup.window": "4"})
    assert loaded.files == (user, near)
    found = {one.key: (one.value, one.origin) for one in loaded.all()}
    assert found["dedup.window"] == (4, "flag")
    assert found["throttle.window"] == (3, "TOCSIN_THROTTLE__WINDOW")
    assert found["hold.window"] == (2, f"{near}:6")
    assert found["throttle.burst"] == (1, f"{user}:5")
    assert found["throttle.max_pending"] == (50, "default")
    assert loaded.settings.dedup.window == 4


def test_the_nearest_project_file_counts_alone(project: Path) -> None:
    write(project / ".tocsin.toml", "")
    near = write(project / "deep" / ".tocsin.toml", "")
    assert project_file(project / "deep") == near
    assert project_file(project) == project / ".tocsin.toml"


def test_an_unknown_key_names_file_line_and_the_nearest(project: Path, environ: dict[str, str]) -> None:
    path = write(project / ".tocsin.toml", "# mine\n\n[dedup]\nreminders = [1]\nwindwo = 5\n")
    assert refusal(project, environ) == f"{path}:5: there is no setting 'dedup.windwo'; did you mean dedup.window?"


@pytest.mark.parametrize(
    ("text", "line", "key", "advice"),
    [
        ("[deddup]\nwindow = 1\n", 2, "deddup.window", "did you mean dedup.window?"),
        ("defer.timing.idleafter = 1\n", 1, "defer.timing.idleafter", "did you mean defer.timing.idle_after?"),
        ("idle_after = 1\n", 1, "idle_after", "did you mean defer.timing.idle_after?"),
        ("[defer]\ntiming = {idle = 1}\n", 2, "defer.timing.idle", "did you mean defer.timing.idle_after?"),
        ("[dedup.window]\nx = 1\n", 1, "dedup.window", "Expected `int`, got `object`"),
        ("[zzz]\nq = 1\n", 2, "zzz.q", "sections are intake, classify"),
        ("dedup = 5\n", 1, "dedup", "it is a section: write [dedup]"),
        ("[dedup]\n[zzz]\n", 2, "zzz", "sections are intake"),
    ],
)
def test_every_mistake_names_its_line(
    project: Path, environ: dict[str, str], text: str, line: int, key: str, advice: str
) -> None:
    path = write(project / ".tocsin.toml", text)
    said = refusal(project, environ)
    assert said.startswith(f"{path}:{line}: ")
    assert key in said
    assert advice in said


def test_a_wrong_type_names_file_line_and_key(project: Path, environ: dict[str, str]) -> None:
    path = write(project / ".tocsin.toml", '[throttle]\nburst = 2\n[dedup]\nwindow = "long"\n')
    assert refusal(project, environ) == f"{path}:4: dedup.window: Expected `int`, got `str`"


def test_a_value_that_a_section_refuses_names_that_section(project: Path, environ: dict[str, str]) -> None:
    path = write(project / ".tocsin.toml", '[dedup]\nwindow = 1\n[hold]\ncascade = ["ok", "("]\n[fanout.layout]\ncap = 5000\n')
    assert refusal(project, environ).startswith(f"{path}:4: hold: '(' is no regular expression")


def test_text_that_is_no_toml_names_file_and_line(project: Path, environ: dict[str, str]) -> None:
    path = write(project / ".tocsin.toml", "[dedup]\nwindow = = 1\n")
    assert refusal(project, environ).startswith(f"{path}:2: Invalid value")
    write(path, "[dedup]\nreminders = [1,\n")
    assert refusal(project, environ).startswith(f"{path}:2: ")


def test_a_file_that_is_no_text_is_named(project: Path, environ: dict[str, str]) -> None:
    (project / ".tocsin.toml").write_bytes(b"\xff\xfe")
    assert refusal(project, environ).startswith(f"{project / '.tocsin.toml'}: can't be read")


def test_the_environment_holds_every_kind_of_value(project: Path, environ: dict[str, str]) -> None:
    environ |= {
        "TOCSIN_DEDUP__REMINDERS": "[2, 4]",
        "TOCSIN_HOLD__REPLACE": "true",
        "TOCSIN_CLASSIFY__COORDINATOR": "42",
        "TOCSIN_HOLD__CASCADE": '["a b"]',
        "TOCSIN_CLASSIFY__ROUTES": '[{to = ["dev"], scope = "web*"}]',
        "TOCSIN_DEFER__TIMING__IDLE_AFTER": "150",
        "TOCSIN_FINGERPRINT__LEVEL": "loose",
    }
    made = load(directory=project, environ=environ).settings
    assert made.dedup.reminders == (2, 4)
    assert made.hold.replace is True
    assert made.classify.coordinator == "42"
    assert made.hold.cascade == ("a b",)
    assert made.classify.routes == (Route(to=("dev",), scope="web*"),)
    assert made.defer.timing.idle_after == 150
    assert made.fingerprint.level == "loose"


def test_a_mistyped_variable_is_an_error_and_others_of_ours_are_none(project: Path, environ: dict[str, str]) -> None:
    ours = {"TOCSIN_SOCKET": "/x", "TOCSIN_RECIPIENT": "dev", "TOCSIN_DEBUG": "1", "TOCSIN_RUNTIME_DIR": "/y"}
    assert load(directory=project, environ=environ | ours).origins == {}
    said = refusal(project, environ | {"TOCSIN_DEDUP_WINDOW": "1"})
    assert said == "TOCSIN_DEDUP_WINDOW: there is no such setting; did you mean TOCSIN_DEDUP__WINDOW?"
    said = refusal(project, environ | {"TOCSIN_DEDUP__WINDOWS": "1"})
    assert said == "TOCSIN_DEDUP__WINDOWS: there is no such setting; did you mean TOCSIN_DEDUP__WINDOW?"
    said = refusal(project, environ | {"TOCSIN_DEDUP__WINDOW": "soon"})
    assert said == "TOCSIN_DEDUP__WINDOW: dedup.window: Expected `int`, got `str`"


def test_a_mistyped_flag_is_an_error(project: Path, environ: dict[str, str]) -> None:
    assert (
        refusal(project, environ, flags={"dedup.widnow": "1"})
        == "there is no setting 'dedup.widnow'; did you mean dedup.window?"
    )
    assert refusal(project, environ, flags={"dedup.window": "x"}) == "flag: dedup.window: Expected `int`, got `str`"


def test_every_setting_of_the_line_has_a_key() -> None:
    def leaves(value: object, before: str = "") -> list[str]:
        if not isinstance(value, msgspec.Struct):
            return [before.rstrip(".")]
        return [leaf for name in value.__struct_fields__ for leaf in leaves(getattr(value, name), f"{before}{name}.")]

    assert sorted(keys()) == sorted(leaves(Settings()))


def test_a_key_is_found_behind_lists_and_texts_that_look_like_keys() -> None:
    text = 'a = """\n[x]\nb = 1\n"""\nlist = [\n  "c = 1",\n]\n[x]\n"b" = 2\n[x.y]\nz.w = 3\n'
    assert line_of(text, "x.b") == 9
    assert line_of(text, "x.y.z.w") == 11
    assert line_of(text, "x.y.other") == 10
    assert line_of(text, "list") == 5


NAME = st.text("abcdefgh", min_size=1, max_size=4)
TABLES = st.dictionaries(NAME, st.dictionaries(NAME, st.integers(0, 9), max_size=4), max_size=4)


@given(TABLES)
def test_every_key_of_a_written_file_is_found_on_its_line(tables: dict[str, dict[str, int]]) -> None:
    lines: list[str] = []
    places: dict[str, int] = {}
    for table, content in tables.items():
        lines.append(f"[{table}]")
        for key, value in content.items():
            lines.append(f"{key} = {value}")
            places[f"{table}.{key}"] = len(lines)
    text = "\n".join(lines)
    assert tomllib.loads(text) == tables
    for key, place in places.items():
        assert line_of(text, key) == place
