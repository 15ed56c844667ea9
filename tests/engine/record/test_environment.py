"""Which variables recipes get, which are secret, and what is told of them."""

import os

import pytest

from gallery import Gallery
from recipe_gallery.record.environment import describe, find_secrets, pass_on
from recipe_gallery.record.facts import prepare


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


def test_what_else_may_matter_is_told() -> None:
    variables = {
        "OMP_NUM_THREADS": "2",
        "CUDA_LAUNCH_BLOCKING": "1",
        "CUDA_HOME": "/usr/local/cuda",
        "CUDA_VISIBLE_DEVICES": "0",
        "TORCH_LOGS": "x" * 101,
        "TORCH_TRACE": "x" * 100,
        "TORCH_TOKEN": "secret",
        "HOME": "me",
    }
    assert describe(variables) == {
        "CUDA_LAUNCH_BLOCKING": "1",
        "OMP_NUM_THREADS": "2",
        "TORCH_TRACE": "x" * 100,
    }


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
    assert prepare(gallery.recipes, None, lambda text: None).secrets == ()
    (gallery.recipes / "recording.toml").write_text('[environment]\ninherit = ["HF_TOKEN"]\n')
    assert prepare(gallery.recipes, None, lambda text: None).secrets == ("hf_12345",)
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
    versions = prepare(gallery.recipes, None, lambda text: None).facts["versions"]
    assert versions["a"] == str(gallery.recipes)
    assert versions["b"] == "False"
