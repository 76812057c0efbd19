# SPDX-License-Identifier: Apache-2.0
"""exits.py CODE COMMAND...: runs the command, fails unless it exits with the code."""
import subprocess
import sys

code = subprocess.call(sys.argv[2:])
if code != int(sys.argv[1]):
    sys.exit(f"exit code {code} instead of {sys.argv[1]}")
