# SPDX-License-Identifier: Apache-2.0
"""Candidates are judged on other hosts: sshd and Slurm on loopback, emulated devices as workers."""

import collections
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

from ci_test import Project
from kopt_test import BIN, DATA, FLAGS, KoptTest
from observe_test import APP, CUDA

KILLS = int(os.environ.get("KOPT_TEST_KILLS", "8"))  # 80 for 100 in all
OPTIONS = ["--device", "emulated", "--seed", "7", "--trials", "7"]


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def processes(wanted):
    """Those whose words `wanted` takes."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if wanted(entry.read_bytes().decode(errors="replace").split("\0")):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def workers_of(program):
    """The processes of workers that were started under this path."""
    return processes(lambda words: words[:2] == [str(program), "worker"])


def links_to(program):
    """The ssh and srun processes through which kopt speaks with them."""
    return processes(lambda words: pathlib.Path(words[0]).name in ("ssh", "srun") and
                     any(word == str(program) or f"{program} worker" in word for word in words))


class Executor(KoptTest):
    def setUp(self):
        super().setUp()
        self.copy(DATA / "scale.cu")
        # A path by which the workers of this test are known.
        self.program = self.folder / "host" / "kopt"
        self.program.parent.mkdir()
        self.program.symlink_to(BIN / "kopt")

    def decisions(self):
        trials = [(trial["candidate_hash"], trial["purpose"], trial["verdict"], trial["duplicate_of"]) for trial in self.records("trials")]
        winner = [(run["winner_hash"], run["stop_text"], run["state"]) for run in self.records("runs")]
        for name in (".kopt", "kopt.out"):
            shutil.rmtree(self.folder / name)
        return trials, winner

    def tune_there(self, executor, *options, env=None):
        done = self.kopt_ok("tune", "scale.cu", *OPTIONS, "--executor", executor, "--executor-program", self.program, *options,
                            *FLAGS, env=env)
        return done, self.decisions()

    def tune_while(self, killing, wanted, executor):
        """Runs of kopt until `killing`, which returns what it killed, has done so `wanted` times."""
        here, killed, over = self.tune_here(), [], threading.Event()

        def kill():
            draw = random.Random(48)
            while not over.wait(draw.uniform(0.2, 3)):
                try:
                    killed.append(killing(draw))
                except (IndexError, ProcessLookupError):  # there was none
                    pass

        while len(killed) < wanted:
            over.clear()
            killer = threading.Thread(target=kill)
            killer.start()
            try:
                _, there = self.tune_there(executor, "--executor-restarts", "1000")
            finally:
                over.set()
                killer.join()
            self.assertEqual(there, here)
        print(f"killed: {dict(collections.Counter(killed))}", flush=True)

    def tune_here(self):
        self.kopt_ok("tune", "scale.cu", *OPTIONS, *FLAGS)
        return self.decisions()


class SshHosts(Executor):
    def setUp(self):
        super().setUp()
        home = self.folder / "ssh"
        home.mkdir(mode=0o700)
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / key], check=True)
        shutil.copy(home / "user.pub", home / "authorized")
        (home / "home").mkdir()
        port = free_port()
        (home / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {home}/host\nAuthorizedKeysFile {home}/authorized\nStrictModes no\n"
            "UsePAM no\nPasswordAuthentication no\nMaxStartups 100\nPidFile none\nAcceptEnv *\n"
            f'ForceCommand cd {home}/home && exec sh -c "$SSH_ORIGINAL_COMMAND"\n')
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # where sshd of root separates its privileges
        server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", home / "sshd_config"], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        passed = " ".join(name for name in os.environ if name.startswith(("KOPT_", "XDG_", "SLURM_")))
        (home / "config").write_text(
            f"Host one two three four\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {home}/user\n  IdentitiesOnly yes\n"
            f"  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  SendEnv {passed}\n"
            f"Host two\n  SetEnv XDG_CACHE_HOME={home}/cache-of-two TEST_GPU=A100\n")  # the other hosts share a file system
        (home / "bin").mkdir()
        (home / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {home}/config "$@"\n')
        (home / "bin" / "ssh").chmod(0o755)
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{home}/bin:{path}"
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        for _ in range(100):
            if subprocess.run(["ssh", "one", "true"]).returncode == 0:
                return
            time.sleep(0.1)
        self.fail("sshd does not answer")


class Ssh(SshHosts):
    def test_two_hosts_take_the_same_decisions(self):
        here = self.tune_here()
        self.assertGreater(len(here[0]), 5)
        for hosts in ("one", "one,two", "one,two,three,four"):
            done, there = self.tune_there(f"ssh:{hosts}")
            self.assertEqual(there, here, hosts)
        for _ in range(100):  # they notice that kopt ended, and clean up
            if not workers_of(self.program):
                return
            time.sleep(0.1)
        self.fail("workers outlive kopt")

    def test_a_trial_there(self):
        candidate = (DATA / "scale.cu").read_text().replace("factor *", "factor * 1.5f *")
        self.assertNotEqual(candidate, (DATA / "scale.cu").read_text())
        self.write("wrong.cu", candidate)
        done = self.kopt("trial", "scale.cu", "--candidate", "wrong.cu", "--device", "emulated", "--executor", "ssh:one",
                         "--executor-program", self.program, *FLAGS)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("expected", done.stdout)

    @unittest.skipUnless(APP.exists(), "this build has no capture library")
    def test_a_program_that_is_there_is_observed_there(self):
        self.copy(DATA / "captured.cu")
        there = self.folder / "host" / "project"
        there.mkdir()
        shutil.copy(APP, there / "app")
        self.program.unlink()  # only the host has a CUDA driver
        self.program.write_text("#!/bin/sh\n" + "".join(f"export {name}={value}\n" for name, value in CUDA.items()) +
                                f'exec {BIN}/kopt "$@"\n')
        self.program.chmod(0o755)
        tune = ["tune", "captured.cu", "--kernel", "scale", "--run", "./app scale", *OPTIONS]
        remote = ["--executor-program", self.program, "--executor-folder", there, *FLAGS]
        toolkit = {"KOPT_CUDA_PATH": ""}
        missing = self.kopt(*tune, "--executor", "ssh:one", "--executor-program", self.program, *FLAGS, env=toolkit)
        self.assertEqual(missing.returncode, 6, missing.stderr)
        self.assertIn("one: cannot read ./app", missing.stderr)
        found = []
        for hosts in ("one", "one,three", "one,two"):
            done = self.kopt_ok(*tune, "--executor", f"ssh:{hosts}", *remote, env=toolkit)
            self.assertIn("grid 40 block 128", done.stderr)
            contents = list((self.folder / ".kopt" / "traces").rglob("*.kbuf"))
            self.assertEqual(bool(contents), hosts == "one,two", "contents stay on the host unless another one needs them")
            again = self.kopt_ok("trial", "captured.cu", "--kernel", "scale", "--candidate", "captured.cu", "--run", "./app scale",
                                 "--device", "emulated", "--executor", "ssh:one", *remote, env=toolkit)
            self.assertIn("earlier run", again.stderr)
            found.append(self.decisions())
        shutil.copy(APP, self.folder / "app")
        self.kopt_ok(*tune, *FLAGS, env={**CUDA, **toolkit})
        self.assertEqual(found, [self.decisions()] * 3)

    def test_winners_are_judged_on_other_kinds_of_gpu_too(self):
        self.program.unlink()  # the second host has another GPU
        self.program.write_text(f"""#!/bin/sh
exec {BIN}/kopt $(printf '%s\n' "$@" | sed "s/^--model-gpu=.*/--model-gpu=${{TEST_GPU:-H200}}/")
""")
        self.program.chmod(0o755)
        tune = ["tune", "scale.cu", *OPTIONS, "--json", "--executor", "ssh:two,one", "--executor-program", self.program]
        refused = self.kopt(*tune, *FLAGS)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("two and one have devices of different kinds", refused.stderr)
        self.assertIn("--archs", refused.stderr)
        done = self.kopt_ok(*tune, "--archs", "sm_90,sm_80", *FLAGS)
        winner = json.loads(done.stdout)["results"][0]["winner"]
        self.assertEqual(len(winner["other_devices"]), 1, winner)
        other = winner["other_devices"][0]
        self.assertIn("sm_80", other["device"])
        self.assertEqual(other["verdict"], "Faster", other)
        self.assertGreater(other["speedup"]["low"], 1)
        self.assertNotEqual(other["speedup"], winner["speedup"])
        self.assertRegex(done.stderr, "scale: on .*A100.* sm_80: ")
        report = self.kopt_ok("report").stdout
        self.assertRegex(report, "on .*A100")

    def test_a_host_that_does_not_answer_is_named_and_the_others_judge(self):
        done, there = self.tune_there("ssh:one,nowhere.invalid")
        self.assertIn("nowhere.invalid judges nothing", done.stderr)
        self.assertEqual(there, self.tune_here())
        alone = self.kopt("tune", "scale.cu", *OPTIONS, "--executor", "ssh:nowhere.invalid", "--executor-program", self.program, *FLAGS)
        self.assertEqual(alone.returncode, 6)
        self.assertIn("nowhere.invalid", alone.stderr)
        self.assertFalse((self.folder / ".kopt").exists(), "nothing was written")

    def test_killed_workers_and_links_lose_nothing(self):
        def kill(draw):
            kind, found = draw.choice([("worker", workers_of), ("link", links_to)])
            os.kill(draw.choice(found(self.program)), signal.SIGKILL)
            return kind

        self.tune_while(kill, KILLS, "ssh:one,two")


class SlurmCluster(Executor):
    """A cluster of one node with four tasks: munged, slurmctld and slurmd as on a real one."""

    def setUp(self):
        super().setUp()
        home = self.folder / "slurm"
        (home / "munge").mkdir(mode=0o700, parents=True)
        os.chmod(self.folder, 0o755)
        (home / "munge" / "key").write_bytes(os.urandom(128))
        (home / "munge" / "key").chmod(0o400)
        host, user = socket.gethostname().split(".")[0], pwd.getpwuid(os.geteuid()).pw_name
        (home / "slurm.conf").write_text(
            f"ClusterName=kopt\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={free_port()}\nSlurmdPort={free_port()}\n"
            f"AuthType=auth/munge\nAuthInfo=socket={home}/munge/socket\nSlurmUser={user}\nSlurmdUser={user}\n"
            f"StateSaveLocation={home}/state\nSlurmdSpoolDir={home}/spool\nSlurmctldPidFile={home}/ctld.pid\n"
            f"SlurmdPidFile={home}/slurmd.pid\nSlurmctldLogFile={home}/ctld.log\nSlurmdLogFile={home}/slurmd.log\n"
            "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\nReturnToService=2\n"
            "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nJobAcctGatherType=jobacct_gather/none\n"
            "AccountingStorageType=accounting_storage/none\nSchedulerParameters=sched_interval=1,sched_min_interval=0\n"
            f"SlurmdParameters=config_overrides\nNodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000 State=UNKNOWN\n"
            f"PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP\n")
        os.environ["SLURM_CONF"] = str(home / "slurm.conf")
        self.addCleanup(os.environ.pop, "SLURM_CONF")
        self.serve("munged", "--foreground", "--force", f"--key-file={home}/munge/key", f"--socket={home}/munge/socket",
                   f"--pid-file={home}/munge/pid", f"--log-file={home}/munge/log", f"--seed-file={home}/munge/seed")
        self.serve("slurmctld", "-D")
        self.serve("slurmd", "-D")
        for _ in range(100):
            if "idle" in self.ask("sinfo", "--noheader", "--format=%T"):
                return
            time.sleep(0.2)
        self.fail(self.ask("sinfo") + (home / "ctld.log").read_text()[-2000:])

    def serve(self, program, *arguments):
        server = subprocess.Popen([shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"), *arguments],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

    def ask(self, *command):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        return done.stdout + done.stderr


class Slurm(SlurmCluster):
    def test_four_tasks_take_the_same_decisions(self):
        here = self.tune_here()
        _, there = self.tune_there("slurm:--ntasks=4")
        self.assertEqual(there, here)
        for _ in range(50):
            if not self.ask("squeue", "--noheader").strip():
                return
            time.sleep(0.2)
        self.fail("the allocation outlives kopt")

    def test_cancelled_allocations_and_killed_tasks_lose_nothing(self):
        def kill(draw):
            kind = draw.choice(["allocation", "task", "link"])
            if kind == "allocation":
                job = self.ask("squeue", "--noheader", "--states=RUNNING", "--format=%i").split()[0]
                self.ask("scancel", job)
            else:
                os.kill(draw.choice((workers_of if kind == "task" else links_to)(self.program)), signal.SIGKILL)
            return kind

        self.tune_while(kill, max(4, KILLS // 4), "slurm:--ntasks=2")

    def test_waiting_in_the_queue_again_is_charged_to_nobody(self):
        host, waited = socket.gethostname().split(".")[0], 8

        def hold():
            for _ in range(200):  # until it judges
                if workers_of(self.program):
                    break
                time.sleep(0.1)
            time.sleep(1)
            self.ask("scontrol", "update", f"NodeName={host}", "State=DRAIN", "Reason=test")
            for job in self.ask("squeue", "--noheader", "--format=%i").split():
                self.ask("scancel", job)
            time.sleep(waited)
            self.ask("scontrol", "update", f"NodeName={host}", "State=RESUME")

        holder = threading.Thread(target=hold)
        holder.start()
        start = time.monotonic()
        done, there = self.tune_there("slurm:--ntasks=1", "--budget-seconds", "300", "--json")
        wall = time.monotonic() - start
        holder.join()
        self.assertEqual(there, self.tune_here())
        used = json.loads(done.stdout)["details"]["used_seconds"]
        self.assertLess(used, wall - waited, "the budget did not go on in the queue")

    def test_what_slurm_refuses_is_said_in_its_words(self):
        done = self.kopt("tune", "scale.cu", *OPTIONS, "--executor", "slurm:--partition=none", *FLAGS)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("invalid partition", done.stderr.lower())
        self.assertFalse((self.folder / ".kopt").exists())


class Package(SshHosts):
    def test_kopt_is_sent_where_it_is_missing(self):
        subprocess.run(["cpack", "-G", "TGZ", "-B", str(self.folder / "packed")], cwd=BIN.parent, check=True, stdout=subprocess.DEVNULL)
        root = self.folder / "installed"
        root.mkdir()
        archive = next((self.folder / "packed").glob("kopt-*.tar.gz"))
        subprocess.run(["tar", "-xzf", archive, "-C", root, "--strip-components=1"], check=True)
        here = self.tune_here()
        tune = [root / "bin" / "kopt", "tune", "scale.cu", *OPTIONS, "--executor", "ssh:one,nowhere.invalid", *FLAGS]
        for sent in (True, False):
            done = subprocess.run([str(word) for word in tune], cwd=self.folder, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("sending kopt to one" in done.stderr, sent, done.stderr)
            self.assertIn("nowhere.invalid judges nothing", done.stderr)
            self.assertEqual(self.decisions(), here)
        self.assertEqual(len(list((self.folder / "ssh" / "home" / ".cache" / "kopt" / "packages").iterdir())), 1)


class Gate(SshHosts, Project):
    def test_versions_are_compared_there(self):
        self.edit("taps.h", "TAPS 3", "TAPS 40")
        self.commit("more taps")
        here = self.ci(code=2)
        there = self.ci("--executor", "ssh:one", "--executor-program", self.program, code=2)
        self.assertEqual(there["results"][0]["verdict"], "slower")
        self.assertEqual(there["results"], here["results"])
        self.assertEqual(there["details"]["device"], here["details"]["device"])


class Login(SshHosts, SlurmCluster):
    """A cluster that is reached by ssh alone."""

    def test_a_laptop_tunes_on_the_cluster(self):
        here = self.tune_here()
        _, there = self.tune_there("slurm@one:--ntasks=2")
        self.assertEqual(there, here)
        done = self.kopt("doctor", "--json", "--executor", "slurm@one:--ntasks=1", "--executor-program", self.program,
                         "--device", "emulated")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Slurm task 0: emulated device", [check["check"] for check in json.loads(done.stdout)["results"]])


class Refused(Executor):
    def test_an_executor_that_is_none_is_a_wrong_flag(self):
        for text in ("cluster", "ssh:", "ssh:-oProxyCommand=x", "local:1", "slurm:'"):
            done = self.kopt("tune", "scale.cu", "--executor", text, *FLAGS)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn("is no executor", done.stderr)

    def test_the_doctor_names_a_host_that_cannot_be_reached(self):
        done = self.kopt("doctor", "--executor", "ssh:nowhere.invalid", "--executor-program", self.program)
        self.assertEqual(done.returncode, 6, done.stdout)
        self.assertRegex(done.stdout, r"fail nowhere\.invalid .*\n +-> kopt must be there")

    def test_a_repository_may_not_choose_one(self):
        self.write("kopt.toml", '[tune]\nexecutor = "ssh:one"\n')
        done = self.kopt("tune", "scale.cu", "--device", "emulated", *FLAGS)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'executor' may not be set by a repository's kopt.toml", done.stderr)


if __name__ == "__main__":
    unittest.main()
