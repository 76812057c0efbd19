# SPDX-License-Identifier: Apache-2.0
# Parameters come from CMakeLists.txt. Tests hide the CUDA toolkit (they then need none and are fast) unless they say
# otherwise; feature `nvcc` where a toolkit with a compiler is installed. Feature `long` in the soak lane.
import os
import shutil

import lit.formats

config.name = "kopt"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cu", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["output"]

bin_folder = lit_config.params["kopt_bin"]
toolkit = os.environ.get("KOPT_CUDA_PATH") or os.environ.get("CUDA_PATH")
if not toolkit:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
if os.path.exists(os.path.join(toolkit, "bin", "nvcc")):
    config.available_features.add("nvcc")

if "long" in lit_config.params:
    config.available_features.add("long")

config.environment["KOPT_CUDA_PATH"] = "none"
config.environment["KOPT_CACHE_DIR"] = os.path.join(lit_config.params["output"], "cache")
config.environment["PATH"] = os.pathsep.join([lit_config.params["llvm_tools"], os.environ["PATH"]])
config.substitutions += [
    # Each run is to show what this tool does now; %cached-extract is for the tests of what it remembers.
    ("%kopt-extract", os.path.join(bin_folder, "kopt-extract") + " --no-cache"),
    ("%cached-extract", os.path.join(bin_folder, "kopt-extract")),
    ("%kopt-frontend", os.path.join(bin_folder, "kopt-frontend")),
    ("%with-toolkit", "env KOPT_CUDA_PATH=" + toolkit),
    ("%nvcc", os.path.join(toolkit, "bin", "nvcc")),
    ("%source", lit_config.params["source"]),
]
import sys

config.substitutions += [
    ("%python", sys.executable),
    ("%variants", sys.executable + " " + os.path.join(os.path.dirname(__file__), "variants.py") + " " +
     os.path.join(bin_folder, "kopt-frontend")),
    ("%exits", sys.executable + " " + os.path.join(os.path.dirname(__file__), "exits.py")),
]
try:
    import jsonschema  # noqa: F401

    config.available_features.add("jsonschema")
except ImportError:
    pass
