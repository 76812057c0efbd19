# SPDX-License-Identifier: Apache-2.0
"""kopt doctor, and which CUDA toolkit kopt uses, on machines that lack something or have two of it."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest

from kopt_test import DATA, FLAGS, SOURCE, KoptTest, find_nvcc, has_gpu

# Variables that lead to a toolkit, or to a part of one.
LOOKED_AT = ("KOPT_CUDA_PATH", "CUDACXX", "CUDA_PATH", "CUDA_HOME", "NVDISASM_PATH", "KOPT_CUPTI", "LD_LIBRARY_PATH")
CUDA_PARTS = ("nvcc", "CUPTI", "Nsight Compute", "nvdisasm", "compute-sanitizer")
# What a developer's own configuration might say of models and devices.
CHOSEN = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "KOPT_ANTHROPIC_BASE_URL", "KOPT_OPENAI_BASE_URL", "KOPT_MODEL", "KOPT_PROPOSERS",
          "KOPT_DEVICE", "KOPT_GPUS", "KOPT_SANDBOX", "KOPT_RUN")
EMULATED = ("--device", "emulated")


class DoctorTest(KoptTest):
    def setUp(self):
        super().setUp()
        self.project = self.folder / "project"
        self.project.mkdir()

    def call(self, *arguments, env=None):
        cleared = {name: "" for name in CHOSEN}
        # Loopback is reached directly, whatever proxy the machine uses.
        own = {"XDG_CONFIG_HOME": str(self.folder / "config"), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        return self.kopt("doctor", *arguments, env={**cleared, **own, **(env or {})}, cwd=self.project)

    def answer(self, *arguments, code=0, env=None):
        """What --json prints; the facts of both forms are the same."""
        done = self.call(*arguments, "--json", env=env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        details = answer["details"]
        self.assertEqual(details["can_start"], code == 0)
        self.assertEqual(answer["error"] and answer["error"]["exit_code"], code or None)
        for check in answer["results"]:
            self.assertEqual(check["ok"], check["state"] == "ok", check)
        self.assertEqual(any(check["state"] == "blocking" for check in answer["results"]), code != 0)
        return answer

    def checks(self, *arguments, code=0, env=None):
        return {check["check"]: check for check in self.answer(*arguments, code=code, env=env)["results"]}


class Toolkit(DoctorTest):
    def program(self, name, text="#!/bin/sh\n"):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file

    def toolkit(self, name, text="#!/bin/sh\necho 'Cuda compilation tools, release 12.6, V12.6.85'\n"):
        """All parts of a toolkit, empty but for nvcc."""
        for tool in ("nvdisasm", "ncu", "compute-sanitizer"):
            self.program(f"{name}/bin/{tool}")
        self.program(f"{name}/bin/nvcc", text)
        for file in ("include/cuda_runtime.h", "include/cuda.h", "lib64/libcupti.so"):
            self.program(f"{name}/{file}")
        return self.folder / name

    def doctor(self, code=0, **env):
        cleared = {name: "" for name in LOOKED_AT}
        return self.checks(*EMULATED, code=code, env={**cleared, **env})

    def test_each_part_of_the_toolkit_is_named(self):
        toolkit = self.toolkit("cuda")
        checks = self.doctor(CUDA_PATH=str(toolkit))
        self.assertIn(f"{toolkit} (chosen by CUDA_PATH)", checks["CUDA toolkit"]["detail"])
        self.assertEqual(checks["nvcc"]["detail"], f"nvcc 12.6.85 ({toolkit}/bin/nvcc)")
        for part in CUDA_PARTS:
            self.assertTrue(checks[part]["ok"], checks[part])
            self.assertIn(str(toolkit), checks[part]["detail"])

    def test_none_hides_every_part(self):
        toolkit = self.toolkit("cuda")
        checks = self.doctor(KOPT_CUDA_PATH="none", CUDA_PATH=str(toolkit), PATH=f"{toolkit}/bin:{os.environ['PATH']}",
                             LD_LIBRARY_PATH=f"{toolkit}/lib64")
        for part in CUDA_PARTS:
            self.assertFalse(checks[part]["ok"], checks[part])
            self.assertIn("CUDA is hidden by KOPT_CUDA_PATH=none", checks[part]["detail"])
            self.assertIn("unset KOPT_CUDA_PATH", checks[part]["remedy"])

    def test_a_wrong_toolkit_is_named_and_not_replaced(self):
        toolkit = self.toolkit("cuda")
        checks = self.doctor(code=6, KOPT_CUDA_PATH="/nonexistent", CUDA_PATH=str(toolkit),
                             PATH=f"{toolkit}/bin:{os.environ['PATH']}")
        for part in CUDA_PARTS:
            self.assertFalse(checks[part]["ok"], checks[part])
            self.assertIn("KOPT_CUDA_PATH=/nonexistent is not a CUDA toolkit", checks[part]["detail"])
            self.assertIn("bin/nvcc", checks[part]["remedy"])
        self.assertEqual(checks["CUDA toolkit"]["state"], "blocking")  # as the other commands do

    def test_commands_refuse_a_wrong_toolkit(self):
        self.copy(DATA / "scale.cu")
        for command in (["list", "scale.cu"], ["tune", "scale.cu", "--device", "emulated"]):
            done = self.kopt(*command, *FLAGS, env={"KOPT_CUDA_PATH": "/nonexistent"})
            self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
            self.assertIn("KOPT_CUDA_PATH=/nonexistent is not a CUDA toolkit", done.stderr)
            self.assertIn("bin/nvcc", done.stderr)

    @unittest.skipUnless(find_nvcc(), "there is no nvcc")
    def test_of_two_toolkits_one_is_used_for_everything(self):
        real = find_nvcc().parent.parent
        log = self.folder / "log"
        for name in ("first", "second"):
            self.program(f"{name}/bin/nvcc", f'#!/bin/sh\necho {name} "$@" >> {log}\nexec {real}/bin/nvcc "$@"\n')
            for place in real.iterdir():
                if place.name != "bin":
                    (self.folder / name / place.name).symlink_to(place)
        self.copy(DATA / "scale.cu")
        cleared = {name: "" for name in LOOKED_AT}
        # Not contained, so that the compilers can write to the log. The emulated device needs nvcc for proofs; profile also
        # builds the kernel with it, to read its machine code.
        self.kopt_ok("profile", "scale.cu", "--device", "emulated", "--sandbox", "off", *FLAGS, env={
            **cleared, "CUDA_PATH": str(self.folder / "first"), "PATH": f"{self.folder}/second/bin:{os.environ['PATH']}",
            "KOPT_CACHE_DIR": str(self.folder / "cache")})
        lines = log.read_text().splitlines()
        self.assertEqual({line.split()[0] for line in lines}, {"first"}, lines)
        self.assertTrue([line for line in lines if "-ptx" in line], lines) # a slice was proven
        self.assertTrue([line for line in lines if "-cubin" in line], lines) # a candidate was built


class Start(DoctorTest):
    def last_line(self, *arguments, code=0, env=None):
        done = self.call(*arguments, env=env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout.splitlines()[-1]

    def test_an_empty_folder_is_in_order_and_stays_empty(self):
        answer = self.answer(*EMULATED)
        self.assertEqual(answer["details"]["device"]["kind"], "emulated")
        self.assertTrue(answer["details"]["device"]["modelled"])
        self.assertEqual(self.last_line(*EMULATED), answer["details"]["conclusion"])
        self.assertRegex(self.last_line(*EMULATED), r"^tuning can start: on the emulated device \(H200 sm_90\): times are modelled$")
        names = {check["check"] for check in answer["results"]}
        self.assertFalse(names & {"configuration", "database", "compile database", "kopt.lock", "git"}, names)
        self.assertEqual(list(self.project.iterdir()), [])

    @unittest.skipIf(has_gpu(), "there is a GPU")
    def test_without_a_gpu_only_the_emulated_device_is_left(self):
        self.assertIn("on the emulated device only", self.last_line())
        self.assertEqual(self.checks()["cuda device"]["state"], "optional")
        self.assertRegex(self.last_line("--device", "cuda", code=6), "^tuning cannot start: cuda device: .*emulated device")
        checks = self.checks("--device", "cuda", code=6)
        self.assertEqual(checks["cuda device"]["state"], "blocking")

    def test_a_mistake_in_the_configuration_has_its_place(self):
        self.write("project/kopt.toml", "[tune]\nruonds = 3\n")
        checks = self.checks(code=1)
        self.assertEqual(checks["configuration"]["state"], "blocking")
        self.assertIn("kopt.toml:2", checks["configuration"]["detail"])
        self.assertIn("kopt.toml:2", self.last_line(code=1))
        self.write("project/kopt.toml", "[tune]\nrounds = 3\ndevice = \"emulated\"\n")
        checks = self.checks()
        self.assertEqual(checks["configuration"]["detail"], str(self.project / "kopt.toml"))
        done = self.call("--json", env={"KOPT_ROUNDS": "many"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("KOPT_ROUNDS", done.stderr)

    def test_what_the_configuration_asks_for_is_what_counts(self):
        for variable, value, code in (("KOPT_MODEL_GPU", "nothing", 1), ("KOPT_GPUS", "2", 0), ("KOPT_GPUS", "all", 1)):
            with self.subTest(variable=variable, value=value):
                checks = self.checks(*EMULATED, code=code, env={variable: value})
                self.assertEqual(checks["emulated device"]["ok"], code == 0, checks["emulated device"])


class Models(DoctorTest):
    KEY = "sk-never-shown"

    def serve(self, steps):
        """The address of a scripted service on loopback."""
        script = self.write("script.json", json.dumps(steps))
        server = subprocess.Popen([sys.executable, str(SOURCE / "tests/fakes/llm_server.py"), str(script), "--log",
                                   str(self.folder / "log")], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return f"http://127.0.0.1:{server.stdout.readline().strip()}"

    def asked(self):
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]

    def models(self, *arguments, code=0, **env):
        done = self.call(*EMULATED, *arguments, env=env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        checks = self.checks(*EMULATED, *arguments, code=code, env=env)
        self.assertNotIn(self.KEY, done.stdout + done.stderr + json.dumps(checks))
        return checks

    def test_none_is_needed(self):
        checks = self.models()
        self.assertEqual(checks["language model"]["state"], "ok")
        self.assertIn("no language model configured; search works without", checks["language model"]["detail"])
        self.assertFalse([name for name in checks if name.endswith((" key", " endpoint"))])

    def test_a_service_that_answers_is_asked_for_its_list_alone(self):
        url = self.serve([{"raw": "{}"}] * 2)
        checks = self.models("--model", "anthropic:m", ANTHROPIC_API_KEY=self.KEY, KOPT_ANTHROPIC_BASE_URL=url)
        self.assertEqual(checks["Anthropic key"]["detail"], "ANTHROPIC_API_KEY is set")
        self.assertEqual(checks["Anthropic endpoint"]["detail"], f"{url} answers")
        self.assertEqual({(one["path"], one["body"]) for one in self.asked()}, {("/v1/models", None)})

    def test_a_refused_key_and_an_endpoint_that_is_not_there_are_named(self):
        url = self.serve([{"status": 401, "error": "bad key"}] * 4)
        env = {"OPENAI_API_KEY": self.KEY, "KOPT_OPENAI_BASE_URL": url + "/v1", "KOPT_MODEL": "openai:m"}
        checks = self.models(**env)
        self.assertEqual(checks["OpenAI key"]["state"], "optional")
        self.assertIn("refuses the key of OPENAI_API_KEY", checks["OpenAI key"]["detail"])
        # With nobody else to ask, every round would fail.
        checks = self.models(**env, KOPT_PROPOSERS="llm", code=6)
        self.assertEqual(checks["OpenAI key"]["state"], "blocking")
        nobody = {**env, "KOPT_OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
        self.assertEqual(self.models(**nobody)["OpenAI endpoint"]["state"], "optional")
        self.assertIn("http://127.0.0.1:1", self.models(**nobody)["OpenAI endpoint"]["detail"])
        self.assertEqual(self.models(**nobody, KOPT_PROPOSERS="llm", code=6)["OpenAI endpoint"]["state"], "blocking")

    def test_a_service_that_hangs_is_not_waited_for(self):
        url = self.serve([{"seconds": 60}])
        checks = self.checks(*EMULATED, env={"KOPT_OPENAI_BASE_URL": url + "/v1"})
        self.assertEqual(checks["OpenAI endpoint"]["state"], "optional")
        self.assertEqual(checks["language model"]["state"], "ok")

    def test_a_missing_key_ends_the_run_so_it_blocks(self):
        checks = self.models("--model", "anthropic:m", code=6, KOPT_ANTHROPIC_BASE_URL="http://127.0.0.1:1")
        self.assertEqual(checks["Anthropic key"]["state"], "blocking")
        self.assertIn("ANTHROPIC_API_KEY", checks["Anthropic key"]["remedy"])

    def test_a_command_is_looked_for(self):
        self.assertEqual(self.models("--model", "exec:cat --secret sk-never-shown")["language model"]["state"], "ok")
        missing = self.models("--model", "exec:/no/such/client")["language model"]
        self.assertEqual(missing["state"], "optional")
        self.assertIn("/no/such/client", missing["detail"])


class Project(DoctorTest):
    def test_a_database_of_another_version_blocks(self):
        file = self.project / ".kopt" / "kopt.db"
        file.parent.mkdir()
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA user_version = 9999")
        database.close()
        checks = self.checks(*EMULATED, code=6)
        self.assertEqual(checks["database"]["state"], "blocking")
        self.assertIn("another version of kopt", checks["database"]["detail"])

    def test_a_compile_database_that_is_named_must_be_right(self):
        self.assertEqual(self.checks(*EMULATED, "-p", "build", code=1)["compile database"]["state"], "blocking")
        (self.project / "build").mkdir()
        self.copy(DATA / "scale.cu", "project/scale.cu")
        self.write("project/build/compile_commands.json", json.dumps(
            [{"directory": str(self.project), "file": "scale.cu", "command": "nvcc -c scale.cu"}]))
        for more in ((), ("-p", "build")):
            self.assertIn("1 CUDA file", self.checks(*EMULATED, *more)["compile database"]["detail"])

    def test_a_lock_that_cannot_be_read_is_told(self):
        (self.project / "kopt").mkdir()
        self.write("project/kopt/kopt.lock", "kopt-lock 1\n")
        self.assertIn("0 tuned, 0 stale, 0 regressed", self.checks(*EMULATED)["kopt.lock"]["detail"])
        self.write("project/kopt/kopt.lock", "{")
        self.assertEqual(self.checks(*EMULATED)["kopt.lock"]["state"], "optional")

    @unittest.skipUnless(shutil.which("git"), "there is no git")
    def test_changes_that_are_not_committed_are_told(self):
        def git(*words):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words], cwd=self.project, check=True,
                           stdout=subprocess.DEVNULL)
        git("init", "-q")
        file = self.write("project/a.txt", "a")
        git("add", "a.txt")
        git("commit", "-q", "-m", "first")
        self.assertIn("nothing uncommitted", self.checks(*EMULATED)["git"]["detail"])
        file.write_text("b")
        changed = self.checks(*EMULATED)["git"]
        self.assertIn("not committed", changed["detail"])
        self.assertTrue(changed["ok"])


if __name__ == "__main__":
    unittest.main()
