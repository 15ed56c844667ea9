"""The environment of a recipe's kernel: the variables that it inherits from the recorder.

Results should not depend on what a person happens to have set, and a recipe cannot publish what it
does not get. So recipes get the variables in ``PASSED``, and those that recording.toml sets or
names.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

# By subject; `*` stands for any characters. Python's own variables are listed only if they name
# folders; no variable may hold a token or a password.
PASSED = {
    "system": "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP "
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR",
    "Python": "VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYTHONPATH PYTHONHOME PYTHONUSERBASE "
    "PYTHONNOUSERSITE PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE PYTHONUTF8",
    "compilers": "CC CXX CUDAHOSTCXX CFLAGS CXXFLAGS LDFLAGS CPATH C_INCLUDE_PATH SDKROOT "
    "CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD CCACHE_* NVCC_*",
    "GPUs": "CUDA* CUDNN_* CUBLAS* NCCL_* NVIDIA_TF32_OVERRIDE NVIDIA_VISIBLE_DEVICES",
    "threads": "*_NUM_THREADS OMP_* KMP_* GOMP_* MKL_* OPENBLAS_* MALLOC_*",
    "figures": "MPLCONFIGDIR",
    "network": "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE",
}
_SECRET = re.compile(
    "(TOKEN|SECRET|PASS(WORD|WD|PHRASE)?|_PWD|_PAT|CREDENTIAL|COOKIE|AUTH|KEY)S?$", re.IGNORECASE
)
_IN_ADDRESS = re.compile(r"://(?:[^\s/@:]*:)?([^\s/]+)@")  # a password or a token


def pass_on(variables: Mapping[str, str], inherit: Iterable[str]) -> dict[str, str]:
    """Return the variables that recipes inherit; ``inherit`` has further names and patterns."""
    patterns = list(inherit)
    for names in PASSED.values():
        patterns += names.split()
    inherited = {}
    for name, value in variables.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            inherited[name] = value
    return inherited


def find_secrets(variables: Mapping[str, str]) -> set[str]:
    """Return the secrets among variables: tokens, keys, and passwords in addresses."""
    secrets: set[str] = set()
    for name, value in variables.items():
        if _SECRET.search(name):
            secrets.add(value)
        secrets.update(_IN_ADDRESS.findall(value))
    return secrets
