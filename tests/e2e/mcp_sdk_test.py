# SPDX-License-Identifier: Apache-2.0
"""The official client of the Model Context Protocol for Python (`mcp` on PyPI) works with kopt mcp. Without it the test is
skipped: cmake/bootstrap.sh test installs it beside the build."""

import asyncio
import os
import sys
import unittest

from kopt_test import BIN, DATA, FLAGS, KoptTest

PACKAGES = str(BIN.parent / "tests" / "python")
sys.path.insert(0, PACKAGES)  # before the machine's own, which may be too old for it
try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError as missing:
    print(f"skipped: {missing}; python3 -m pip install --target {PACKAGES} mcp")
    sys.exit(77)


def plain(result):
    """As the protocol has it: the names of attributes differ between versions of the package."""
    return result.model_dump(by_alias=True, mode="json")


class Sdk(KoptTest):
    def test_from_the_list_to_a_submitted_candidate(self):
        source = self.copy(DATA / "scale.cu").read_text()
        better = source.replace("EDGE + threadIdx.x;\n  int column", "EDGE + threadIdx.y;\n  int column").replace(
            "int column = blockIdx.y * EDGE + threadIdx.y", "int column = blockIdx.y * EDGE + threadIdx.x")
        said = []

        async def heard(progress, total, message):
            said.append(message)

        async def work():
            server = StdioServerParameters(command=str(BIN / "kopt"), cwd=self.folder, env=dict(os.environ),
                                           args=["mcp", "scale.cu", "--device", "emulated", *FLAGS])
            async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
                hello = plain(await session.initialize())
                self.assertEqual(hello["serverInfo"]["name"], "kopt")
                self.assertIn("list", [tool.name for tool in (await session.list_tools()).tools])
                listed = plain(await session.call_tool("list", {}))
                self.assertEqual(listed["structuredContent"]["kernels"][0]["name"], "scale")
                kernel = plain(await session.call_tool("kernel", {"kernel": "scale"}))
                self.assertIn("what bounds it", kernel["content"][0]["text"])
                timed = plain(await session.call_tool("time", {"source": better}, progress_callback=heard))
                self.assertEqual(timed["structuredContent"]["verdict"], "Faster")
                profile = plain(await session.call_tool("profile", {"source": better}))
                self.assertIn("beside the original", profile["content"][0]["text"])
                handed = plain(await session.call_tool("submit", {"source": better, "seconds": 60}))
                self.assertIn("the candidate: Faster", handed["content"][0]["text"])
                tried = plain(await session.call_tool("history", {"kernel": "scale"}))
                self.assertIn("Faster", tried["content"][0]["text"])
                skills = [resource.uri for resource in (await session.list_resources()).resources
                          if str(resource.uri).startswith("kopt://skill/")]
                text = plain(await session.read_resource(skills[0]))
                self.assertGreater(len(text["contents"][0]["text"]), 100)

        asyncio.run(asyncio.wait_for(work(), 300))
        self.assertTrue(any("judging" in message for message in said), said)


if __name__ == "__main__":
    unittest.main()
