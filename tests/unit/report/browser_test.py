#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the pages of synthetic runs (write_pages.cpp) in a real browser: structure, places and sizes of the sections,
no complaint of the console, nothing loaded, with and without scripts, light, dark and printed. Skipped where there is no
Chromium. KOPT_KEEP_PAGES=FOLDER keeps the pages."""

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import browser  # noqa: E402

SECTIONS = ["times", "program", "change", "causes", "lines", "roofline", "checks", "search", "candidates", "story", "provenance"]
# Of each text its contrast to what is painted behind it, where that is less than WCAG's AA asks for.
FAINT = """(() => {
  const parse = text => { const m = text.match(/[\\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; };
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => { v /= 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = node => { for (let n = node; n; n = n.parentElement) {
    const c = parse(getComputedStyle(n).backgroundColor); if (c[3] === 1) return c; } return [255, 255, 255, 1]; };
  const faint = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || node.closest('script,title')) continue;
    const style = getComputedStyle(node), isSvg = node instanceof SVGElement;
    const a = light(parse(isSvg ? style.fill : style.color)), b = light(behind(node));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.add(node.tagName + '.' + node.getAttribute('class') + ' ' + ratio.toFixed(2));
  }
  return [...faint];
})()"""
BOXES = """Object.fromEntries([...document.querySelectorAll('section')].map(section => {
  const box = section.getBoundingClientRect(); return [section.id, [box.top + scrollY, box.width, box.height]]; }))"""


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="kopt-pages-")
        cls.folder = Path(os.environ.get("KOPT_KEEP_PAGES") or cls.temporary.name)
        cls.folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([os.environ["KOPT_WRITE_PAGES"], str(cls.folder)], check=True)
        cls.browser = browser.Browser(300)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.temporary.cleanup()

    def open(self, name, **options):
        self.browser.open(self.folder / f"{name}.html", **options)
        return self.browser

    def pages(self):
        return sorted(path.stem for path in self.folder.glob("*.html"))

    def test_no_page_complains_loads_anything_or_runs_what_it_shows(self):
        self.assertIn("hostile", self.pages())
        self.assertIn("win-session", self.pages())
        for name in self.pages():
            with self.subTest(name):
                page = self.open(name)
                self.assertEqual(page.complaints(), [])
                self.assertEqual([url for url in page.requests() if not url.endswith(f"/{name}.html")], [])
                self.assertEqual(page.evaluate("document.scripts.length"), 1)
                self.assertEqual(page.evaluate("document.images.length"), 0)

    def test_sections_stand_below_each_other_and_none_is_empty(self):
        for name, missing in (("win", []), ("many", []), ("lost", ["program", "change"]),
                              ("interrupted", ["program", "change"])):
            for width in (1240, 700, 400):
                with self.subTest(name, width=width):
                    page = self.open(name, width=width)
                    boxes = page.evaluate(BOXES)
                    self.assertEqual(list(boxes), [each for each in SECTIONS if each not in missing])
                    bottom = 0
                    for section, (top, wide, high) in boxes.items():
                        self.assertGreaterEqual(top, bottom - 1, section)
                        self.assertGreater(wide, width * 0.8, section)
                        self.assertGreater(high, 40, section)
                        bottom = top + high
                    # Wide tables scroll by themselves: the page never does.
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)

    def test_charts_are_drawn_and_nothing_leaves_them(self):
        page = self.open("many")
        outside = page.evaluate("""[...document.querySelectorAll('svg.chart')].flatMap(svg => {
          const frame = svg.getBoundingClientRect();
          return [...svg.querySelectorAll('text,circle,rect,path,line')].filter(each => {
            const box = each.getBoundingClientRect();
            return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 ||
                   box.bottom > frame.bottom + 1; }).map(each => each.outerHTML); })""")
        self.assertEqual(outside, [])
        self.assertEqual(page.evaluate("document.querySelectorAll('svg.chart').length"), 3)
        self.assertGreater(page.evaluate("document.querySelectorAll('#search .mark').length"), 390)
        self.assertEqual(page.evaluate("document.querySelectorAll('svg[role=img]:not([aria-label])').length"), 0)

    def test_sorting_is_what_the_script_adds(self):
        page = self.open("many")
        speedups = "[...document.querySelectorAll('#candidates tbody tr')].map(r => parseFloat(r.cells[2].dataset.v))"
        before = page.evaluate(speedups)
        self.assertNotEqual(before, sorted(before))
        page.evaluate("document.querySelectorAll('#candidates th button')[2].click()")
        self.assertEqual(page.evaluate(speedups), sorted(before))
        page.evaluate("document.querySelectorAll('#candidates th button')[2].click()")
        self.assertEqual(page.evaluate(speedups), sorted(before, reverse=True))
        self.assertEqual(page.evaluate("document.querySelectorAll('#candidates th')[2].getAttribute('aria-sort')"),
                         "descending")
        self.assertEqual(page.complaints(), [])

    def test_reads_the_same_without_scripts(self):
        text = "document.querySelector('main').innerText"
        with_scripts = self.open("many").evaluate(text)
        self.open("many", scripts=False)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('button').length"), 0)
        self.assertEqual(self.browser.evaluate(text), with_scripts)

    def test_every_text_can_be_read_in_light_and_in_dark(self):
        for name in ("win", "lost", "win-session"):
            for scheme, ground in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 26)")):
                with self.subTest(name, scheme=scheme):
                    page = self.open(name, scheme=scheme)
                    self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), ground)
                    self.assertEqual(page.evaluate(FAINT), [])

    def test_is_printed_on_white_and_in_pages(self):
        page = self.open("win", scheme="dark", media="print")
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assertEqual(page.evaluate("getComputedStyle(document.querySelector('nav')).display"), "none")
        self.assertEqual(page.evaluate(FAINT), [])
        pdf = self.open("win").pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.assertGreater(len(re.findall(rb"/Type\s*/Page\b", pdf)), 1)

    def test_tables_have_heads_and_headings_have_an_order(self):
        for name in ("win", "lost", "win-session"):
            page = self.open(name)
            self.assertEqual(page.evaluate("""[...document.querySelectorAll('table:not(.diff)')].filter(table =>
                !table.querySelector('thead th[scope=col]')).length"""), 0)
            self.assertEqual(page.evaluate("document.querySelectorAll('h1').length"), 1)
            self.assertTrue(page.evaluate("document.title").startswith("kopt: "))
            broken = page.evaluate("""[...document.querySelectorAll('nav a')].map(a => a.hash.slice(1))
                .filter(id => !document.getElementById(id))""")
            self.assertEqual(broken, [])

    def test_the_policy_names_the_script_that_there_is(self):
        text = (self.folder / "win.html").read_text()
        script = re.search(r"<script>(.*?)</script>", text, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        self.assertIn(f"script-src &#39;sha256-{digest}&#39;", text)


if __name__ == "__main__":
    if not browser.find():
        print("skipped: there is no chromium to open the pages with (Debian: apt-get install chromium)")
        sys.exit(77)
    unittest.main()
