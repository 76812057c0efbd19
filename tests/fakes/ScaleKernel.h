// SPDX-License-Identifier: Apache-2.0
// A file with a tunable constant, a kernel and its launch, for tests of what candidates change in
// them.
#pragma once

#include "driver/source/SourceEdits.h"
#include "driver/source/TuneClauses.h"
#include "driver/support/FileSystem.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kopt::fakes {

/// As the front end would describe it.
class ScaleKernel : public testing::Test {
protected:
  ScaleKernel() {
    source_ = "constexpr int TILE = 32;\n"
              "__global__ void scale(float *x, int n) { x[TILE] = n; }\n"
              "void run(float *x, int n) {\n"
              "  scale<<<(n + TILE - 1) / TILE, TILE>>>(x, n);\n"
              "}\n";
    path_ = (folder_.path() / "scale.cu").string();
    EXPECT_TRUE(writeFileAtomically(path_, source_));
    slice_ = "#include <cuda_runtime.h>\n" + lineAt(0) + "\n" + lineAt(1) + "\n";

    kernel_.name = "scale";
    kernel_.file = path_;
    kernel_.line = 2;
    kernel_.constants = {{"TILE", ConstantKind::Constexpr, 32, range("32"), 1, true, true}};
    LaunchSite site;
    site.file = path_;
    site.line = 4;
    site.symbol = "_Z5scalePfi";
    site.geometry = GeometryKind::Symbolic;
    site.grid = {"(n + TILE - 1) / TILE", "1", "1"};
    site.block = {"TILE", "1", "1"};
    site.sharedBytes = "0";
    site.args = {"x", "n"};
    site.gridRange = range("(n + TILE - 1) / TILE");
    site.blockRange = SourceRange{path_, source_.find("TILE>>>"), source_.find(">>>")};
    kernel_.launches = {site};

    specialization_.symbol = "_Z5scalePfi";
    specialization_.expression = "scale";
    specialization_.slice = "slice.cu";
    specialization_.params = {
        {"x", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false},
        {"n", "int", ParamKind::Scalar, 4, 4, "i32", 1, 0, false, false},
    };
    specialization_.chunks = {chunk(0, ChunkRole::Constant, "TILE"),
                              chunk(1, ChunkRole::Kernel, "scale")};
    specialization_.kernelChunk = 1;
    kernel_.specializations = {specialization_};
  }

  std::string lineAt(std::size_t index) const {
    std::size_t begin = 0;
    for (; index > 0; --index)
      begin = source_.find('\n', begin) + 1;
    return source_.substr(begin, source_.find('\n', begin) - begin);
  }
  SourceRange range(const std::string &text) const {
    const std::size_t begin = source_.find(text);
    return {path_, begin, begin + text.size()};
  }
  SliceChunk chunk(std::size_t line, ChunkRole role, const std::string &name) const {
    const std::size_t begin = slice_.find(lineAt(line));
    return {range(lineAt(line)), begin, begin + lineAt(line).size(), role, name, true, {}};
  }
  TuneDeclaration declaration(const std::vector<std::string> &clauses) const {
    std::vector<TuneClause> list;
    for (const std::string &text : clauses)
      list.push_back({text, path_, 1});
    auto parsed = parseTuneDeclaration(list);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().what);
    return *parsed;
  }
  Workload workload() const {
    auto built =
        buildWorkload(kernel_, specialization_, declaration({"arg n = 1000", "extent x = n + 64"}),
                      DeviceKind::Emulated);
    EXPECT_TRUE(built) << (built ? "" : built.error().what);
    return *built;
  }
  std::string patched(const std::vector<SourceEdit> &edits) const {
    std::vector<SourceEdit> sorted = edits;
    std::sort(sorted.begin(), sorted.end(),
              [](auto &a, auto &b) { return a.range.begin > b.range.begin; });
    std::string text = source_;
    for (const SourceEdit &edit : sorted)
      text.replace(edit.range.begin, edit.range.end - edit.range.begin, edit.text);
    return text;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("candidate"));
  std::string source_, path_, slice_;
  KernelSpec kernel_;
  Specialization specialization_;
};

} // namespace kopt::fakes
