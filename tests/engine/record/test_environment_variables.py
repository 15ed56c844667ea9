"""Which variables recipes and the probe get, and what no output shows of them."""

from sphinx_recorded_gallery.record.environment_variables import find_secrets, pass_on


def test_recipes_get_what_is_listed_and_what_is_named() -> None:
    listed = "PATH LC_ALL CUDA_HOME OMP_NUM_THREADS NUMEXPR_NUM_THREADS"
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
