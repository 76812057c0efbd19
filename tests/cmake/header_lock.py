# SPDX-License-Identifier: Apache-2.0
"""Writes kopt.lock and .cuh files as kopt does, for tests that have no tuning behind them. Written apart from kopt's own code
(driver/integrate/overlay/Lock.h says what they hold), so that the two check each other."""
import pathlib

PRIME = (1 << 61) - 1
BASES = (1234567890123456789 % PRIME, 987654321987654321 % PRIME)


def content_hash(text):
    text = text if isinstance(text, bytes) else text.encode()
    made = ""
    for base in BASES:
        value = 0
        for byte in text:
            value = (value * base + byte + 1) % PRIME
        made += f"{value:016x}"
    return made


def quoted(text):
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


class Lock:
    def __init__(self, project, build=None):
        self.project, self.build = pathlib.Path(project), pathlib.Path(build) if build else None
        self.entries, self.sections = [], {}

    def read(self, file):
        return ((self.build / file[6:]) if file.startswith("build:") else self.project / file).read_bytes()

    def add(self, kernel, changes, uses=(), archs=("sm_90",), device_only=False, options=()):
        """`changes`: (file, whole text of the use, old text in it, new text). `uses`: (file, text, name)."""
        entry = {"kernel": kernel, "variants": kernel + ".cuh", "facts": [f"symbol {quoted('_Z' + kernel)}",
                 f"variants {quoted(kernel + '.cuh')}", *(f"arch {arch}" for arch in archs),
                 *(f"option {quoted(option)}" for option in options), "speedup 1.5"]}
        if device_only:
            entry["facts"].append("device-only")
        edits = []
        for number, (file, use, *edit) in enumerate([*changes, *uses]):
            text, part = self.read(file), use.encode()
            assert text.count(part) >= 1, (file, use)
            begin = text.index(part)
            name = edit[0] if len(edit) == 1 else f"the kernel '{kernel}'"
            line = text[:begin].count(b"\n") + 1
            entry["facts"].append(f"use {quoted(file)} {begin} {begin + len(part)} {line} "
                                  f"{quoted(name)} {content_hash(part)}")
            if len(edit) == 1:
                continue
            old, new = edit
            at = begin + part.index(old.encode())
            hash = content_hash(new)
            edits.append(f"edit {number} {at} {at + len(old.encode())} {hash} ")
            if "\n" in old + new:
                edits[-1] += hash[:12]
                self.sections.setdefault(entry["variants"], {})[hash[:12]] = new
            else:
                edits[-1] += f"{quoted(old)} {quoted(new)}"
        entry["facts"] += edits
        self.entries.append(entry)

    def write(self, folder=None):
        folder = folder or self.project / "kopt"
        folder.mkdir(exist_ok=True)
        for name, sections in self.sections.items():
            text = "// variants\n" + "".join(f"//! text {key}\n{body}\n//! end of the text\n" for key, body in sections.items())
            path = folder / name
            if not path.exists() or path.read_text() != text:  # as kopt does: what stays is not touched
                path.write_text(text)
        (folder / "kopt.lock").write_text("kopt-lock 1\n" + "".join(
            f"kernel {quoted(entry['kernel'])}\n" + "\n".join(entry["facts"]) + "\n" for entry in self.entries))
