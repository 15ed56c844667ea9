"""Which variables recipes and the probe get, and what no output shows of them."""

import pytest

from gallery import Gallery
from recipe_gallery.record.conditions import prepare
from recipe_gallery.record.variables import find_secrets, pass_on

TITLE = '"""\nTitle\n=====\n"""\n'


def test_recipes_get_what_is_listed_and_what_is_named() -> None:
    listed = "PATH LC_ALL CUDA_HOME OMP_NUM_THREADS NUMEXPR_NUM_THREADS TORCH_LOGS HF_HOME"
    withheld = "PYTHONSTARTUP PYTHONOPTIMIZE IPYTHONDIR HF_TOKEN NVIDIA_API_KEY SLURM_JOB_ID path"
    passed, others = (dict.fromkeys(names.split(), "1") for names in (listed, withheld))
    assert pass_on(passed | others, []) == passed
    named = {"HF_TOKEN": "1", "SLURM_JOB_ID": "1"}
    assert pass_on(passed | others, ["HF_TOKEN", "SLURM_*", "NONE"]) == passed | named


def test_secrets_are_tokens_keys_and_passwords_in_addresses() -> None:
    secrets = {"HF_TOKEN": "a", "AWS_SECRET_ACCESS_KEY": "b", "OPENAI_APIKEY": "c", "MY_PWD": "d"}
    addresses = {"https_proxy": "http://me:e@proxy:3128", "INDEXES": "https://f@a.org"}
    others = {"HF_TOKEN_PATH": "/home/me/token", "TOKENIZERS_PARALLELISM": "true", "MAIL": "m@b.c"}
    assert find_secrets(secrets | addresses | others) == {*"abcdef"}


def test_a_probe_gets_what_recipes_get(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "hidden")
    told = "{'a': e['A'], 'b': str('SECRET_OF_MINE' in e)}"
    code = f"import json, os; e = os.environ; print(json.dumps({{'versions': {told}}}))"
    (gallery.recipes / "recording.toml").write_text(
        f'[environment]\nA = "{{recipes}}"\n[provenance]\nprobe = """{code}"""\n'
    )
    versions = prepare(gallery.recipes, None, lambda text: None).facts["versions"]
    assert (versions["a"], versions["b"]) == (str(gallery.recipes), "False")
