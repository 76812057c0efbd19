# SPDX-License-Identifier: Apache-2.0
"""The man page and the completions that kopt writes of itself have every command and option that its help has."""

import re
import shutil
import subprocess
import unittest

from kopt_test import KoptTest


class Manual(KoptTest):
    def commands(self):
        """Each command with its long options, as the help prints them."""
        text = self.kopt_ok("--help").stdout
        listed = re.findall(r"^  ([a-z]+)  ", text[text.index("Subcommands:"):], re.M)
        self.assertIn("explain", listed)
        found = {"": set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text[:text.index("Subcommands:")]))}
        for command in listed:
            help = self.kopt_ok(command, "--help").stdout
            found[command] = set(re.findall(r"^  (?:-\w,)?(--[a-z][a-z-]*)", help, re.M))
            self.assertIn("--json", found[command])
        return found

    def test_each_has_every_command_and_option(self):
        commands = self.commands()
        man = self.kopt_ok("--generate-man").stdout
        sections = dict(re.findall(r"^\.SS kopt (\w+)\n(.*?)(?=^\.S[SH] )", man, re.M | re.S))
        bash, zsh, fish = (self.kopt_ok("--generate-completions", shell).stdout for shell in ("bash", "zsh", "fish"))
        for command, options in commands.items():
            if command:
                self.assertIn(command, sections)
                self.assertRegex(zsh, rf"(?m)^    '{command}:")
                self.assertIn(f"__fish_use_subcommand -f -a {command} ", fish)
            words = re.search(rf"^ *'{command}'\) words='(.*)' ;;$", bash, re.M)[1].split()
            arguments = re.search(rf"^ *{command}\)\n(.*?);;", zsh, re.M | re.S)[1] if command else zsh
            for option in options:
                with self.subTest(command=command, option=option):
                    self.assertIn(option.replace("-", "\\-"), sections[command] if command else man)
                    self.assertIn(option, words)
                    self.assertIn(f"'{option}[", arguments)
                    self.assertRegex(fish, (f"seen_subcommand_from {command}'" if command else "complete -c kopt")
                                     + rf"[^\n]* -l {option[2:]} ")

    def test_bash_completes(self):
        self.write("kopt.bash", self.kopt_ok("--generate-completions", "bash").stdout)
        self.write("kernel.cu", "")

        def complete(*words):
            script = ('source ./kopt.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kopt; '
                      'printf "%s\\n" "${COMPREPLY[@]}"')
            done = subprocess.run(["bash", "-c", script, "bash", "kopt", *words], cwd=self.folder, text=True,
                                  capture_output=True, check=True)
            self.assertEqual(done.stderr, "")
            return done.stdout.split()

        self.assertEqual(complete("expl"), ["explain"])
        self.assertEqual(complete("report", "--fo"), ["--format"])
        self.assertEqual(complete("report", "--format", "h"), ["html"])
        self.assertEqual(complete("--color", "al"), ["always"])
        self.assertEqual(complete("tune", "ker"), ["kernel.cu"])
        self.assertIn("--device", complete("tune", "--d"))

    def test_groff_takes_the_man_page(self):
        if not shutil.which("groff"):
            self.skipTest("there is no groff")
        page = self.write("kopt.1", self.kopt_ok("--generate-man").stdout)
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(page)], capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        text = re.sub(".\b", "", done.stdout)
        self.assertIn("kopt explain", text)
        self.assertIn("kopt - finds faster CUDA kernels", " ".join(text.split()))

    def test_other_shells_take_theirs(self):
        shells = [shell for shell in ("zsh", "fish") if shutil.which(shell)]
        if not shells:
            self.skipTest("there is neither zsh nor fish")
        for shell in shells:
            file = self.write("completions", self.kopt_ok("--generate-completions", shell).stdout)
            done = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_other_shells_are_refused(self):
        done = self.kopt("--generate-completions", "tcsh")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bash, zsh and fish", done.stderr)


if __name__ == "__main__":
    unittest.main()
