# SPDX-License-Identifier: Apache-2.0
# Checks what extraction says of unused.cu.
import json
import sys

kernel = next(k for k in json.load(open(sys.argv[1]))["kernels"] if k["name"] == "k")
unused = [(chunk["role"], chunk["name"]) for chunk in kernel["unused"]]
assert unused == [("macro", "STEP"), ("constant", "kTile"), ("constant", "kRows"), ("type", "Pair"), ("constant", "app::Mode"),
                  ("alias", "alias"), ("other", "Mode"), ("variable", "taps"), ("variable", "weights"), ("variable", "counter"),
                  ("function", "half")], unused
text = open(kernel["unit"]).read()
step = kernel["unused"][0]["source"]
assert text[step["begin"]:step["end"]] == "#define STEP 2", step
users = {chunk["name"]: [(user["name"], user["host"]) for user in chunk["users"]] for chunk in kernel["unused"] if chunk["users"]}
assert users == {"taps": [("other", False)], "weights": [("run", True)]}, users
assert [chunk["name"] for chunk in kernel["specializations"][0]["chunks"]] == ["USED", "k"]
