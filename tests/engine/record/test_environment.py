"""Which variables recipes get, which are secret, and what is told of them."""

import os
import re
from pathlib import Path

import pytest

from gallery import ROOT, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.record.environment import PASSED, describe, find_secrets, pass_on
from recipe_gallery.record.machine import conditions
from recipe_gallery.record.recording_toml import Settings, load_settings


def test_recipes_get_what_is_listed_and_what_is_named() -> None:
    passed = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "CUDA_HOME": "/cuda",
        "NVSHMEM_SYMMETRIC_SIZE": "1G",
        "CCACHE_DIR": "/cache",
        "GLOO_SOCKET_IFNAME": "lo",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "2",
        "NUMEXPR_NUM_THREADS": "2",
        "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
        "HF_HOME": "/data",
        "TOKENIZERS_PARALLELISM": "false",
        "https_proxy": "http://proxy",
        "PYTHONPATH": "/lib",
    }
    withheld = {
        "PYTHONSTARTUP": "s.py",
        "PYTHONOPTIMIZE": "1",
        "PYTHONINSPECT": "1",
        "IPYTHONDIR": "/ipython",
        "HF_TOKEN": "hf_secret",
        "CUDA_API_KEY": "secret",
        "SLURM_JOB_ID": "1",
        "MY_SETTING": "1",
        "path": "/bin",
    }
    assert pass_on(passed | withheld, []) == passed
    assert pass_on(passed | withheld, ["HF_TOKEN", "SLURM_*", "NONE"]) == passed | {
        "HF_TOKEN": "hf_secret",
        "SLURM_JOB_ID": "1",
    }


def test_the_list_that_people_read_is_the_list() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for subject, names in PASSED.items():
        row = f"| {subject} | {' '.join(f'`{name}`' for name in names.split())} |\n"
        assert row in text, f"write this row into CONTRIBUTING.md: {row}"
        here = {name: "1" for name in names.split() if "*" not in name}
        assert pass_on(here, []) == here


def test_secrets_are_tokens_keys_and_passwords_in_addresses() -> None:
    variables = {
        "HF_TOKEN": "hf_12345",
        "AWS_ACCESS_KEY_ID": "AKIA12",
        "OPENAI_APIKEY": "sk-123456",
        "EMPTY_TOKEN": "",
        "HF_TOKEN_PATH": "/home/me/token",
        "MONKEY_NAME": "hanuman",
        "TOKENIZERS_PARALLELISM": "true-enough",
        "https_proxy": "http://me:hunter%2B22@proxy:3128",
        "INDEXES": "https://ghp_1234@a.org/x https://b:two@b.org",
        "KEY_PASSPHRASE": "correct horse",
        "MY_PWD": "swordfish",
        "PWD": "/home/me",
        "NO_ADDRESS": "://@[",
        "MAIL": "me@example.org",
    }
    assert find_secrets(variables) == (
        *("AKIA12", "correct horse", "ghp_1234", "hf_12345", "hunter%2B22", "hunter+22"),
        *("sk-123456", "swordfish", "two"),
    )


def test_what_else_may_matter_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {
        "PYTHONOPTIMIZE": "1",
        "PYTHONHASHSEED": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "Asia/Seoul",
        "OMP_NUM_THREADS": "2",
        "CUDA_LAUNCH_BLOCKING": "1",
        "CUDA_HOME": "/usr/local/cuda",
        "CUDA_VISIBLE_DEVICES": "0",
        "HIP_VISIBLE_DEVICES": "0",
        "TORCH_LOGS": "x" * 101,
        "TORCH_TRACE": "x" * 100,
        "TORCH_TOKEN": "secret",
        "HOME": "me",
    }
    assert describe(variables, 60) == {
        "flags": {"optimize": 1, "hash_randomization": 0},
        "locale": "C.UTF-8",
        "timezone": "KST",
        "variables": {
            "CUDA_LAUNCH_BLOCKING": "1",
            "OMP_NUM_THREADS": "2",
            "TORCH_TRACE": "x" * 100,
        },
    }


def test_defaults_have_no_flags() -> None:
    assert describe({"LC_ALL": "C.UTF-8"}, 60)["flags"] == {}


@pytest.mark.slow
def test_a_python_that_does_not_start_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(60)\n")
    variables = {"PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "2"}
    assert describe(variables, 1) == {"variables": {"OMP_NUM_THREADS": "2"}}


def write(gallery: Gallery, code: str) -> None:
    gallery.write("recipe", f'"""\nTitle\n=====\n"""\n{code}')


def test_a_kernel_gets_the_list_and_its_recording_tells_what_may_matter(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "hidden")
    monkeypatch.setenv("NAMED_TOKEN", "token-123")
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    (gallery.recipes / "recording.toml").write_text('[environment]\ninherit = ["NAMED_TOKEN"]\n')
    write(
        gallery,
        """
        import os
        found = [name in os.environ for name in ("SECRET_OF_MINE", "inherit")]
        print(*found, len(os.environ["NAMED_TOKEN"]))
        assert False, "it is checked"
        """.replace("\n        ", "\n"),
    )
    assert not gallery.record("recipe")
    assert "    False False 9\n" in gallery.messages
    assert "AssertionError: it is checked" in gallery.messages
    write(gallery, "x = 1\n")
    assert gallery.record("recipe")
    told = gallery.recording("recipe").facts["environment"]
    assert told["variables"]["MKL_NUM_THREADS"] == "1"
    assert told["flags"] == {}


@pytest.mark.slow
def test_what_is_withheld_is_told_where_a_recipe_asks_for_it(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_12345")
    write(gallery, 'import os\nos.environ["HF_TOKEN"]\n')
    assert not gallery.record("recipe")
    (line,) = [line for line in gallery.messages.splitlines() if line.startswith("error: ")]
    assert line.endswith(
        "failed: KeyError: 'HF_TOKEN' (it is set here, but recipes get only listed variables); add "
        "it to inherit under [environment] in recording.toml"
    )
    assert "    KeyError: 'HF_TOKEN'\n" in gallery.messages  # the traceback
    write(gallery, 'import os\nos.environ["HF_OTHER"]\n')
    assert not gallery.record("recipe")
    assert "failed: KeyError: 'HF_OTHER'; mend the recipe" in gallery.messages


def test_secrets_of_what_is_inherited_are_known(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_12345")
    for name in [each for each in os.environ if each.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    assert conditions.prepare(gallery.recipes, None, lambda text: None).secrets == ()
    (gallery.recipes / "recording.toml").write_text('[environment]\ninherit = ["HF_TOKEN"]\n')
    assert conditions.prepare(gallery.recipes, None, lambda text: None).secrets == ("hf_12345",)
    write(gallery, 'import os\nprint("my token:", os.environ["HF_TOKEN"])\n')
    assert gallery.record("recipe")
    assert gallery.recording("recipe").notebook.cells[0].outputs[0].text == "my token: ***\n"


def test_a_probe_gets_what_recipes_get(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "hidden")
    told = "{'a': e['A'], 'b': str('SECRET_OF_MINE' in e)}"
    code = f"import json, os; e = os.environ; print(json.dumps({{'versions': {told}}}))"
    (gallery.recipes / "recording.toml").write_text(
        f'[environment]\nA = "{{recipes}}"\n[provenance]\nprobe = """{code}"""\n'
    )
    versions = conditions.prepare(gallery.recipes, None, lambda text: None).facts["versions"]
    assert versions["a"] == str(gallery.recipes)
    assert versions["b"] == "False"


@pytest.mark.parametrize("text", ['{"versions": {}}', '{"versions": {"a": null}}', "{}"])
def test_a_probe_need_not_tell_versions(gallery: Gallery, text: str) -> None:
    program = f"print('{text}')"
    (gallery.recipes / "recording.toml").write_text(f"[provenance]\nprobe = '''{program}'''\n")
    versions = conditions.prepare(gallery.recipes, None, lambda text: None).facts["versions"]
    assert list(versions) == ["python"]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ('[environment]\n"A=B" = "c"\n', "[environment] 'A=B' cannot be the name of a variable"),
        ('[environment]\n"" = "c"\n', "[environment] '' cannot be the name of a variable"),
        ('[environment]\n"A\\u0000" = "c"\n', "cannot be the name of a variable"),
        (
            '[environment]\nA = "c\\u0000"\n',
            "[environment] A = 'c\\x00' is not a string or a number",
        ),
        ("[environment]\nA = true\n", "[environment] A = True is not a string or a number"),
        ("[environment]\ninherit = 'A'\n", "[environment] inherit = 'A' is not a list of strings"),
        ("[enviroment]\nA = 1\n", "enviroment; there are the tables limits, environment"),
        ("limits = 5\n", "limits; there are the tables limits, environment"),
        ("[limits]\ncell = 1\n", "[limits] cell; there are cell_timeout, deadline"),
        (
            "[limits]\ncell_timeout = nan\n",
            "[limits] cell_timeout = nan is not a number of seconds",
        ),
        ("[provenance]\nprobe = 5\n", "[provenance] probe = 5 is not a program"),
        ("[provenance]\nprobe = 'a\\u0000'\n".replace("'", '"'), "is not a program"),
        ("[output]\ndrop = [1]\n", "[output] drop = [1] is not a list of strings"),
        (f"a = {'[' * 100_000}", "not valid TOML"),
    ],
)
def test_what_recording_toml_cannot_say_is_one_line(
    gallery: Gallery, settings: str, text: str
) -> None:
    path = gallery.recipes / "recording.toml"
    path.write_text(settings)
    with pytest.raises(GalleryError) as caught:
        load_settings(gallery.recipes)
    assert text in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


VALUE = "unexpected value: {}; compare with CONTRIBUTING.md"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            "[enviroment]\nA = 1\n",
            "enviroment; there are the tables limits, environment, provenance, output",
        ),
        (
            "[limits]\ncell = 1\n",
            "[limits] cell; there are cell_timeout, deadline, output_limit",
        ),
        (
            "[limits]\ndeadline = 0\n",
            "[limits] deadline = 0 is not a number of seconds above 0, at most 1,000,000",
        ),
        (
            "[limits]\noutput_limit = 'a'\n",
            "[limits] output_limit = 'a' is not a number of MB above 0",
        ),
        ("[provenance]\nprobe = 5\n", "[provenance] probe = 5 is not a program"),
        ('[provenance]\nprobe = "a\\u0000"\n', "[provenance] probe = 'a\\x00' is not a program"),
        ("[provenance]\npackages = 5\n", "[provenance] packages = 5 is not a list of strings"),
        ("[environment]\n'A=B' = 1\n", "[environment] 'A=B' cannot be the name of a variable"),
    ],
)
def test_what_is_wrong_in_recording_toml_is_said_with_what_there_is(
    tmp_path: Path, settings: str, told: str
) -> None:
    path = tmp_path / "recording.toml"
    path.write_text(settings)
    with pytest.raises(GalleryError) as caught:
        load_settings(tmp_path)
    assert str(caught.value) == f"{path}: {VALUE.format(told)}"


def test_all_settings_are_read_and_each_has_a_default(tmp_path: Path) -> None:
    (tmp_path / "recording.toml").write_text(
        "[limits]\ncell_timeout = 1\ndeadline = 2.5\noutput_limit = 3\n"
        "[environment]\nA = 'b'\nC = 5\ninherit = ['D', 'E_*']\n"
        "[provenance]\npackages = ['numpy']\nprobe = 'print(1)'\n"
        "[output]\ndrop = ['W.*x']\n"
    )
    assert load_settings(tmp_path) == Settings(
        cell_timeout=1,
        deadline=2.5,
        output_limit=3,
        environment={"A": "b", "C": "5"},
        inherit=("D", "E_*"),
        packages=("numpy",),
        probe="print(1)",
        drop=(re.compile("W.*x"),),
    )
    (tmp_path / "recording.toml").write_text("")
    default = load_settings(tmp_path)
    assert default == Settings()
    # as CONTRIBUTING.md says
    assert (default.cell_timeout, default.deadline, default.output_limit) == (300, 900, 20)
    assert (default.environment, default.inherit, default.packages) == ({}, (), ())
    assert (default.probe, default.drop) == ("", ())


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "recording.toml"
    path.symlink_to(tmp_path / "none")
    with pytest.raises(GalleryError) as caught:
        load_settings(tmp_path)
    remedy = "remove it or put the file there"
    assert str(caught.value) == f"{path}: a link that leads nowhere; {remedy}"
    path.unlink()
    assert load_settings(tmp_path) == Settings()
    path.mkdir()
    with pytest.raises(GalleryError) as caught:
        load_settings(tmp_path)
    assert str(caught.value) == f"{path}: cannot be read: Is a directory; mend or remove it"
    path.rmdir()
    path.write_bytes(b"a = '\xff'")
    with pytest.raises(GalleryError) as caught:
        load_settings(tmp_path)
    assert caught.value.text.startswith("not valid TOML: 'utf-8' codec can't decode byte 0xff")
    assert caught.value.remedy == "mend the file; it is text in UTF-8"
    path.write_text("[output]\ndrop = ['(']\n")
    with pytest.raises(GalleryError) as caught:
        load_settings(tmp_path)
    assert caught.value.text.startswith("[output] drop: not a regular expression: missing )")
    assert caught.value.remedy == "mend the pattern"
