// SPDX-License-Identifier: Apache-2.0
// The builds of a program by real commands, in copies of a real folder.
#include "driver/compare/program/BuiltPrograms.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "tests/fakes/Results.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

TEST(BuiltPrograms, OnlyThePatchedProgramIsCompiledWithItsFlags) {
  const TemporaryDirectory folder = must(TemporaryDirectory::create("kopt-built"));
  const fs::path project = fs::canonical(folder.path()) / "project";
  const std::string text = "text\n";
  ASSERT_TRUE(writeFileAtomically(project / "k.cu", text));
  ProgramRequest request;
  request.way.argv = {"/bin/sh", "-c", "cat k.cu > built; echo \"$NVCC_APPEND_FLAGS\" >> built"};
  request.way.directory = request.way.project = request.root = request.directory = project;
  request.commands = {"./built"};
  const fs::path scratch = folder.path() / "scratch";
  CaptureSetup capture; // nothing is run
  capture.library = "libkopt-capture.so";
  capture.cupti = std::vector<fs::path>{"libcupti.so"};
  capture.hasDriver = true;
  setenv("NVCC_APPEND_FLAGS", "-lineinfo", 1);
  const auto processes = makeProcessRunner();
  const auto programs = must(openPrograms(*processes, capture, request, scratch, {}));
  FileEdits edits{"k.cu", hashHex(text), "", {{{"k.cu", 0, 4}, "fast"}}};
  edits.flags = {"-Xptxas=-dlcm=cg", "-use_fast_math"};
  const ProgramPair::Built built = programs->buildBoth({edits});
  unsetenv("NVCC_APPEND_FLAGS");
  ASSERT_TRUE(built.old) << built.old.error().what;
  ASSERT_TRUE(built.fresh) << built.fresh.error().what;
  std::set<std::string> texts;
  for (const auto &entry : fs::recursive_directory_iterator(scratch))
    if (entry.path().filename() == "built")
      texts.insert(must(readFile(entry.path())));
  EXPECT_EQ(texts, (std::set<std::string>{"text\n-lineinfo\n",
                                          "fast\n-lineinfo -Xptxas=-dlcm=cg -use_fast_math\n"}));
  EXPECT_FALSE(fs::exists(project / "built"));
}

} // namespace
} // namespace kopt
