# SPDX-License-Identifier: Apache-2.0
"""kopt kb: kopt's own texts and folders of the user's are searched; they are kept beyond a project."""

import json
import unittest

from kopt_test import DATA, FLAGS, KoptTest


class Kb(KoptTest):
    def kb(self, *arguments, code=0):
        done = self.kopt("kb", *arguments, env={"KOPT_DATA_DIR": str(self.folder / "data")})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def found(self, *words):
        return json.loads(self.kb("search", "--json", *words).stdout)["results"]

    def test_what_was_indexed_is_found_beside_kopts_own(self):
        self.assertEqual(self.found("bank", "conflicts")[0]["file"], "shared-bank-conflicts.md")
        (self.folder / "notes").mkdir()
        self.write("notes/team.md", "# Our GPUs\n\nNever use frobnicated tiles.\n")
        self.assertIn("notes: 1 file read, 0 unchanged, 0 removed", self.kb("index", "notes").stdout)
        self.assertEqual((self.found("frobnicated")[0]["heading"], self.found("frobnicated")[0]["source"]), ("Our GPUs", "notes"))
        self.assertIn("0 files read, 1 unchanged", self.kb("index", "notes").stdout)
        self.assertIn("notes: 1 passage of 1 file, weight 1", self.kb("show").stdout)
        self.kb("forget", "notes")
        self.assertEqual(self.found("frobnicated"), [])
        self.assertFalse((self.folder / ".kopt").exists(), "it is of no project")

    def test_what_no_gpu_has_shown_is_listed(self):
        unproven = json.loads(self.kb("show", "--json").stdout)["details"]["unproven"]
        self.assertIn("tensor-pipe", unproven["state"])
        self.assertNotIn("uncoalesced", unproven["state"])
        self.assertIn("rule", unproven)
        self.assertIn("unproven: " + ", ".join(unproven["skill"]), self.kb("show").stdout)

    def test_bad_input_says_what_to_do(self):
        self.assertIn("known are kopt", self.kb("forget", "nothing", code=1).stderr)
        self.assertIn("'missing' is no folder", self.kb("index", "missing", code=1).stderr)
        self.assertIn("no passage has any of these words", self.kb("search", "zyzzyva").stdout)


class Experience(KoptTest):
    """What trials taught: on the emulated device, whose trials are kept apart from those on GPUs."""

    def kb(self, *arguments, data="data"):
        return self.kopt_ok("kb", *arguments, env={"KOPT_DATA_DIR": str(self.folder / data)})

    def stats(self, *arguments, data="data"):
        return json.loads(self.kb("stats", "--json", *arguments, data=data).stdout)["results"]

    def learn(self, *arguments, experience="on", data="data"):
        return self.kopt_ok("tune", "scale.cu", "--device", "emulated", "--trials", "6", *arguments, *FLAGS,
                            env={"KOPT_EXPERIENCE": experience, "KOPT_DATA_DIR": str(self.folder / data), "KOPT_CUDA_PATH": "none"})

    def test_turns_are_told_of_changes_alone(self):
        self.copy(DATA / "scale.cu")
        self.learn()
        self.learn("--strategy", "greedy")
        taught = [event["what"]["note"]["text"] for event in self.records("events", run=2)
                  if event["what"].get("note", {}).get("about") == "experience"]
        self.assertEqual(len(taught), 1)
        self.assertRegex(taught[0], r"^\d+ changes? of earlier runs to try first$", "no technique is expected to gain anything")

    def test_trials_teach_are_shared_and_are_taken_back(self):
        self.copy(DATA / "scale.cu")
        self.learn(experience="off")
        self.assertFalse((self.folder / "data").exists(), "nothing was learnt")
        self.learn()
        known = self.stats("--emulated")
        self.assertEqual({each["arch"] for each in known}, {"emulated"})
        judged = {trial["candidate_hash"] for trial in self.records("trials", run=2)}
        self.assertEqual(sum(each["trials"] for each in known), len(judged) - 1, "all but the baseline")
        self.assertEqual(self.stats(), [], "modelled trials teach nothing about GPUs")
        self.learn("--resume")
        self.assertEqual(self.stats("--emulated"), known, "none is added twice")

        self.learn("--strategy", "auto")
        taught = [event["what"]["note"]["text"] for event in self.records("events", run=3)
                  if event["what"].get("note", {}).get("about") == "experience"]
        self.assertRegex(taught[0], f"rests on {len(judged) - 1} trials of earlier runs, {len(judged) - 1} of them of kernels of this kind; ")
        self.assertEqual(len(taught), 1)
        self.assertGreater(self.records("runs")[2]["experience"], 0)
        first = [event["what"]["ask"]["role"] for event in self.records("events", run=3) if "ask" in event["what"]][0]
        best = max((trial for trial in self.records("trials", run=2) if trial["verdict"] == "Faster"), key=lambda trial: trial["speedup"]["estimate"])
        again = next(trial for trial in self.records("trials", run=2)
                     if trial["candidate_hash"] == self.records("trials", run=3)[1]["candidate_hash"])
        self.assertEqual((first, best["speedup"]["estimate"]), ("recall", again["speedup"]["estimate"]),
                         "what made the same text faster is tried again first")

        run = json.loads(self.kopt_ok("report", "--json").stdout)["results"][-1]
        self.assertEqual((run["gain"]["own"], run["gain"]["recalled"] > 1), (1, True), "this run found nothing more")
        memo = json.loads(self.kb("memo", "SCALE", "--json").stdout)["results"]
        self.assertEqual([(each["kernel"], each["arch"]) for each in memo], [("scale", "emulated")])
        self.assertRegex(memo[0]["lines"][0], "^resolved: .*x")
        self.assertIn(memo[0]["lines"][0], self.kb("memo", "scale").stdout)
        patterns = json.loads(self.kb("patterns", "--emulated", "--json").stdout)["results"]
        self.assertEqual({each["kernels"] for each in patterns}, {1})
        self.assertEqual(max(each["held"] for each in patterns), 1)
        self.assertEqual(json.loads(self.kb("patterns", "--json").stdout)["results"], [])

        self.kb("export", "plain.jsonl")
        self.kb("export", "full.jsonl", "--with-source")
        plain, full = ((self.folder / name).read_text() for name in ("plain.jsonl", "full.jsonl"))
        self.assertNotIn("edits", plain)
        self.assertNotIn(str(self.folder), plain)
        self.assertIn('"edits"', full)
        self.assertIn("0 known", self.kb("import", "plain.jsonl", data="theirs").stdout)
        self.assertIn("0 new", self.kb("import", "full.jsonl", data="theirs").stdout)
        best = json.loads(self.kb("trials", "--json", "-n", "1", data="theirs").stdout)["results"][0]
        self.assertEqual((best["own"], sorted(best["sources"])), (False, ["full", "plain"]))
        self.assertIn("code of strangers", self.kb("trial", best["id"][:12], data="theirs").stdout)
        self.kb("revoke", "--source", "plain", data="theirs")
        self.kb("revoke", "--source", "full", data="theirs")
        self.kb("import", "full.jsonl", data="theirs")
        self.assertEqual(self.stats("--emulated", data="theirs"), [])


if __name__ == "__main__":
    unittest.main()
