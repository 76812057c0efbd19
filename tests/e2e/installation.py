# SPDX-License-Identifier: Apache-2.0
"""A copy of kopt's installation in which programs go wrong where they are told to, and the GPU may be simulated."""

import os
import shutil

from kopt_test import BIN, SOURCE, find_nvcc


def install(top, device, runner_faults="", source_faults="", expression=""):
    """Into the folder `top`. `device`: emulated, cuda, or simulated (see fakes/SimulatedGpu.h), which takes the `expression` that names
    the kernel. Faults as faulty_runner.cpp and faulty_compiler.py read them. Returns kopt and its environment."""
    folder = top / "bin"
    folder.mkdir(parents=True)
    for program in ("kopt", "kopt-sandbox"):
        shutil.copy(BIN / program, folder)
    if (BIN.parent / "lib").exists():  # an installed kopt has Clang's headers there
        (top / "lib").symlink_to((BIN.parent / "lib").resolve())
    shutil.copy(os.environ["KOPT_FAULTY_RUNNER"], folder / "kopt-runner")
    (folder / "faults").write_text(runner_faults)
    shutil.copy(BIN / "kopt-frontend", folder / "real-frontend")
    put_faulty(folder / "kopt-frontend", folder / "real-frontend", source_faults)
    environment = dict(os.environ)
    if device != "emulated":
        toolkit = find_nvcc().parent.parent
        own = top / "cuda"
        (own / "bin").mkdir(parents=True)
        for place in [*toolkit.iterdir(), *(toolkit / "bin").iterdir()]:
            if place not in (toolkit / "bin", toolkit / "bin" / "nvcc"):
                (own / place.relative_to(toolkit)).symlink_to(place)
        put_faulty(own / "bin" / "nvcc", toolkit / "bin" / "nvcc", source_faults)
        environment |= {"KOPT_CUDA_PATH": str(own), "PATH": f"{toolkit / 'bin'}:{environment['PATH']}"}
    if device == "simulated":
        shutil.copy(SOURCE / "knowledge/gpus/H200.txt", folder / "simulated-gpu")
        shutil.copy(BIN / "kopt-frontend", own / "bin")
        (own / "bin" / "expression").write_text(expression)
        environment["KOPT_LOCK_DIR"] = str(folder)
        environment["KOPT_BUILD_CACHE"] = "0"  # it keeps no FILE.so
    return folder / "kopt", environment


def put_faulty(place, real, faults):
    shutil.copy(SOURCE / "tests/e2e/faulty_compiler.py", place)
    os.chmod(place, 0o755)
    (place.parent / "real").write_text(str(real))
    (place.parent / "source-faults").write_text(faults)
