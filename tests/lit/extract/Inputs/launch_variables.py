"""Prints, for each launch of the file, the variables that its grid and block are, and what their initializers can name."""
import json
import sys

text = open(sys.argv[1]).read()


def told(variable):
    if not variable:
        return "no variable"
    value = text[variable["value"]["begin"]:variable["value"]["end"]]
    return f"'{value}' with {' '.join(variable['settled']) or 'nothing'}"


for kernel in json.load(sys.stdin)["kernels"]:
    for launch in kernel["launches"]:
        line = text.splitlines()[launch["line"] - 1].strip("; {}")
        print(f"{line}: grid is {told(launch.get('grid_variable'))}; block is {told(launch.get('block_variable'))}")
