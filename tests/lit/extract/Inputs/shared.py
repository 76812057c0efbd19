# SPDX-License-Identifier: Apache-2.0
# Checks what extraction says of shared.cu.
import json
import sys

kernel = next(k for k in json.load(open(sys.argv[1]))["kernels"] if k["name"] == "weigh")
users = {chunk["name"]: [(user["name"], user["host"]) for user in chunk["users"]]
         for chunk in kernel["specializations"][0]["chunks"]}
level, run = ("app::level", False), ("run", True)
expected = {"CLIP": [level], "OWN": [], "kTerms": [level], "kBlock": [run], "padded": [run], "root": [level], "inner": [],
            "limit": [], "Op": [run], "Scale": [run], "weigh": []}
for name, found in users.items():
    assert found == expected.get(name, found), (name, found)
assert set(expected) <= set(users), users.keys()

outside = {entry["name"]: entry for entry in kernel["outside"]}
for name in ("soft", "root", "reference", "level", "weigh"):
    assert outside[name]["declared"], name
for name in ("local", "in", "max", "inner"):
    assert not outside.get(name, {"declared": False})["declared"], name
assert not outside["local"]["declared"] and outside["local"]["user"]["name"] == "app::level"
assert "OWN" not in outside and outside["soft"]["user"]["line"] == 17, outside["soft"]
