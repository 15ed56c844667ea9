"""The environment of a recipe's kernel: what it gets of the recorder's, and what is told of it.

Recipes get the variables that ``PASSED`` names, those that ``[environment]`` in recording.toml sets
and those that its ``inherit`` names. All others are withheld: results should not depend on what a
person happens to have set, and what a recipe does not get it cannot publish.
"""

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from urllib.parse import unquote

from .gpu import VISIBLE

# What recipes get, by subject; `*` stands for any characters. Of Python's own variables only those
# that say where things lie: none that changes what code does or that runs other code first.
PASSED = {
    "system": "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TZDIR TMPDIR TMP TEMP SYSTEMROOT "
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR DISPLAY XAUTHORITY",
    "Python": "VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYTHONPATH PYTHONHOME PYTHONUSERBASE "
    "PYTHONNOUSERSITE PYTHONPYCACHEPREFIX PYTHONDONTWRITEBYTECODE PYTHONUTF8",
    "compilers": "CC CXX CUDAHOSTCXX CFLAGS CXXFLAGS LDFLAGS CPATH C_INCLUDE_PATH SDKROOT "
    "CPLUS_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD DYLD_* CCACHE_* NVCC_* "
    "CONDA_BUILD_SYSROOT DEVELOPER_DIR MACOSX_DEPLOYMENT_TARGET",
    "GPUs": "CUDA* CUDNN_* CUBLAS* NCCL_* NVSHMEM_* GLOO_* NVIDIA_* ROCM_* HIP_* HSA_*",
    "threads": "*_NUM_THREADS OMP_* KMP_* GOMP_* MKL_* OPENBLAS_* BLIS_* VECLIB_* NUMBA_* "
    "DNNL_* ONEDNN_* MALLOC_*",
    "libraries": "TORCH* PYTORCH_* TRITON_* ATEN_* XLA_* JAX_* TF_* TOKENIZERS_PARALLELISM",
    "data": "HF_HOME HF_HUB_CACHE HF_HUB_OFFLINE HF_HUB_DISABLE_* HF_DATASETS_CACHE HF_ENDPOINT "
    "HF_DATASETS_OFFLINE TRANSFORMERS_* HUGGINGFACE_HUB_CACHE SCIKIT_LEARN_DATA NLTK_DATA "
    "KERAS_HOME MPLCONFIGDIR",
    "network": "http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY "
    "FTP_PROXY ALL_PROXY NO_PROXY SSL_CERT_* REQUESTS_CA_BUNDLE CURL_CA_BUNDLE",
}
# What changes results or times is told in the recording, where it says no place on this machine.
_TOLD = [name for each in ("GPUs", "threads", "libraries") for name in PASSED[each].split()]
_SECRET = re.compile(
    r"(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE|((^|_|API)KEY)|((^|_)AUTH))S?(_|$)"
    r"|_(PASS|PAT|PWD)$",
    re.I,
)
# In an address: the password, or what stands alone in its place.
_IN_ADDRESS = re.compile(r"://(?:[^\s/@:]*:)?([^\s/]+)@")
_PLACE = re.compile(r"_(PATH|FILE|DIR|HOME)$", re.I)


def pass_on(variables: Mapping[str, str], inherit: Iterable[str]) -> dict[str, str]:
    """Return those of ``variables`` that recipes get; ``inherit`` names more, ``*`` as above.

    What looks like a secret is passed on only where it is named.
    """
    named, listed = list(inherit), " ".join(PASSED.values()).split()
    return {
        name: value
        for name, value in variables.items()
        if _matches(name, named) or (_matches(name, listed) and not _is_secret(name))
    }


def find_secrets(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return what no output may show: values of tokens and keys, passwords in addresses."""
    found = {value for name, value in variables.items() if _is_secret(name)}
    for value in variables.values():
        for password in _IN_ADDRESS.findall(value):
            found |= {password, unquote(password)}
    return tuple(sorted(found - {""}))


def describe(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that may matter to results, but what is a place or a secret."""
    return {
        name: value
        for name, value in sorted(variables.items())
        if _matches(name, _TOLD) and name != VISIBLE and not _is_secret(name)
        if len(value) <= 100 and not re.search(r"[/\\]", value)
    }


def _is_secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and not _PLACE.search(name)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
