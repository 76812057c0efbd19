// SPDX-License-Identifier: Apache-2.0
// With kopt's own declarations in place of a toolkit: what nvcc adds is tests/lit/tool/cache.cu.
#include "clang_plugin/cache/UnitCache.h"

#include "clang_plugin/output/RecordJson.h"
#include "clang_plugin/parallel/WorkPool.h"
#include "unit/clang_plugin/cache/Folder.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace kopt::frontend {
namespace {

namespace fs = std::filesystem;

constexpr const char *kProgram = R"(
#include "size.h"
#include <scale.h>
#if __has_include("extra.h")
#include "extra.h"
#endif
#ifndef FACTOR
#define FACTOR 2
#endif
__global__ void scale(float *x) { if (threadIdx.x < SIZE) x[threadIdx.x] *= FACTOR * SCALE; }
void run(float *x) { scale<<<1, SIZE>>>(x); }
)";

class UnitCacheTest : public Folder {
protected:
  void SetUp() override {
    Folder::SetUp();
    setenv("KOPT_CUDA_PATH", "none", 1);
    write("k.cu", kProgram);
    write("size.h", "#define SIZE 64\n");
    write("system/scale.h", "#define SCALE 3\n");
    unit_ = {path("k.cu"), {"-isystem", path("early"), "-isystem", path("system")}, folder_};
  }
  void TearDown() override {
    for (const char *variable : {"KOPT_CUDA_PATH", "CPATH", "KOPT_CACHE_LIMIT"})
      unsetenv(variable);
    Folder::TearDown();
  }

  struct Answer {
    bool ok = false, kept = false;
    std::string text; ///< all that is printed of it, and the slices
  };

  Answer ask(UnitCache &cache) {
    WorkPool pool(1);
    ExtractionResult extraction;
    const unsigned before = cache.hits();
    const UnitOutcome outcome = cache.extract(unit_, {pool, /*prove=*/true}, extraction);
    Answer answer{outcome.ok, cache.hits() > before, toJson(extraction).dump(2)};
    for (const KernelSpec &kernel : extraction.kernels)
      for (const Specialization &specialization : kernel.specializations)
        answer.text += specialization.lifted->text;
    for (const Diagnostic &diagnostic : outcome.diagnostics)
      answer.text += diagnostic.file + std::to_string(diagnostic.line) + diagnostic.message;
    return answer;
  }
  Answer ask() {
    UnitCache cache(path("kept"));
    return ask(cache);
  }
  /// Another answer than the last one, which is then kept.
  void expectAnother(const Answer &last) {
    const Answer now = ask();
    EXPECT_FALSE(now.kept);
    EXPECT_NE(now.text, last.text);
    EXPECT_TRUE(ask().kept);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto &entry : fs::directory_iterator(path("kept/extract"), none))
      found.push_back(entry.path());
    return found;
  }

  ExtractUnit unit_;
};

TEST_F(UnitCacheTest, AnswersAnUnchangedFileTheSameWay) {
  const Answer first = ask();
  ASSERT_TRUE(first.ok) << first.text;
  EXPECT_FALSE(first.kept);
  EXPECT_NE(first.text.find("FACTOR * SCALE"), std::string::npos);
  const Answer second = ask();
  EXPECT_TRUE(second.ok);
  EXPECT_TRUE(second.kept);
  EXPECT_EQ(second.text, first.text);
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(UnitCacheTest, NoticesAnEditOfTheFile) {
  const Answer first = ask();
  write("k.cu", std::string(kProgram) + "__global__ void other() {}\n");
  expectAnother(first);
}

TEST_F(UnitCacheTest, NoticesAnEditOfAHeader) {
  Answer last = ask();
  write("size.h", "#define SIZE 32\n");
  expectAnother(last);
}

TEST_F(UnitCacheTest, NoticesAnEditOfASystemHeader) {
  ask();
  write("system/scale.h", "#define SCALE 4\n");
  EXPECT_FALSE(ask().kept);
}

TEST_F(UnitCacheTest, NoticesHeadersThatAppear) {
  ask();
  write("extra.h", "#define FACTOR 7\n"); // asked for with __has_include
  EXPECT_FALSE(ask().kept);
  EXPECT_TRUE(ask().kept);
  write("early/scale.h", "#define SCALE 5\n"); // shadows the other
  EXPECT_FALSE(ask().kept);
  EXPECT_TRUE(ask().kept);
}

TEST_F(UnitCacheTest, NoticesFlagsAndOptionsFiles) {
  const Answer first = ask();
  unit_.flags.push_back("-DFACTOR=5");
  expectAnother(first);
  write("flags.rsp", "-O3");
  unit_.flags.push_back("--options-file=flags.rsp");
  EXPECT_FALSE(ask().kept);
  write("flags.rsp", "-O2"); // which only nvcc gets
  EXPECT_FALSE(ask().kept);
  unit_.flags.resize(unit_.flags.size() - 2);
  EXPECT_TRUE(ask().kept) << "the first answer is still there";
}

TEST_F(UnitCacheTest, NoticesTheEnvironmentAndTheToolkit) {
  ask();
  setenv("CPATH", path("elsewhere").c_str(), 1);
  EXPECT_FALSE(ask().kept);
  unsetenv("CPATH");
  EXPECT_TRUE(ask().kept);
  // A toolkit of which most is missing. Whatever comes of it is kept.
  write("toolkit/bin/readme", "");
  write("toolkit/include/cuda_runtime.h", "");
  write("toolkit/include/cuda.h", "#define CUDA_VERSION 12000\n");
  setenv("KOPT_CUDA_PATH", path("toolkit").c_str(), 1);
  const Answer with = ask();
  EXPECT_FALSE(with.kept);
  const Answer again = ask();
  EXPECT_TRUE(again.kept);
  EXPECT_EQ(again.text, with.text);
  write("toolkit/include/cuda.h", "#define CUDA_VERSION 12000 // edited\n");
  EXPECT_FALSE(ask().kept);
  EXPECT_TRUE(ask().kept);
  write("toolkit/include/cuda.h", "#define CUDA_VERSION 12010\n");
  EXPECT_FALSE(ask().kept);
}

TEST_F(UnitCacheTest, TriesAgainOnceAMissingHeaderIsThere) {
  fs::remove(path("size.h"));
  EXPECT_FALSE(ask().ok);
  const Answer again = ask();
  EXPECT_TRUE(again.kept);
  EXPECT_FALSE(again.ok);
  EXPECT_NE(again.text.find("size.h"), std::string::npos);
  write("size.h", "#define SIZE 64\n");
  const Answer found = ask();
  EXPECT_TRUE(found.ok);
  EXPECT_FALSE(found.kept);
}

TEST_F(UnitCacheTest, ReplacesADamagedEntry) {
  const Answer first = ask();
  ASSERT_EQ(entries().size(), 1u);
  std::ofstream(entries()[0], std::ios::trunc) << "damaged";
  const Answer second = ask();
  EXPECT_FALSE(second.kept);
  EXPECT_EQ(second.text, first.text);
  EXPECT_TRUE(ask().kept);
}

TEST_F(UnitCacheTest, WorksWithoutAFolder) {
  write("kept", "a file in the way");
  const Answer first = ask(), second = ask();
  EXPECT_TRUE(first.ok);
  EXPECT_FALSE(second.kept);
  UnitCache none("");
  EXPECT_FALSE(ask(none).kept);
  EXPECT_EQ(ask(none).text, first.text);
}

TEST_F(UnitCacheTest, KeepsTheFolderSmall) {
  UnitCache cache(path("kept"));
  ask(cache);
  ASSERT_EQ(entries().size(), 1u);
  cache.trim();
  EXPECT_EQ(entries().size(), 1u);
  setenv("KOPT_CACHE_LIMIT", "0", 1);
  cache.trim();
  EXPECT_TRUE(entries().empty());
}

} // namespace
} // namespace kopt::frontend
