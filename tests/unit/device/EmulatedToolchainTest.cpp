// SPDX-License-Identifier: Apache-2.0
// The front end as a script that the test writes.
#include "driver/device/Toolchain.h"
#include "driver/device/build/Toolchains.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"
#include "unit/device/ElfBuilder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

using testing::HasSubstr;

using namespace kopt;
namespace fs = std::filesystem;

class EmulatedToolchainTest : public testing::Test {
protected:
  EmulatedToolchainTest()
      : processes(makeProcessRunner()),
        folder(std::move(*TemporaryDirectory::create("kopt-emulated"))) {}

  std::unique_ptr<Toolchain> frontend(const std::string &body) {
    const fs::path script = folder.path() / "kopt-frontend";
    EXPECT_TRUE(writeFileAtomically(script, "#!/bin/sh\nif [ \"$2\" = --version ]; then\n"
                                            "echo 'kopt-extract 0.1.0 (Clang 19)'; exit 0; fi\n"
                                            "cat > '" +
                                                (folder.path() / "request").string() + "'\n" +
                                                body + "\n"));
    fs::permissions(script, fs::perms::all);
    auto toolchain = makeEmulatedToolchain(*processes, script);
    EXPECT_TRUE(toolchain);
    return toolchain ? std::move(*toolchain) : nullptr;
  }
  std::string replying(const std::string &json) { return "cat <<'END'\n" + json + "\nEND"; }
  BuildRequest request() {
    BuildRequest out;
    out.sliceText = "the \"slice\" \xff\n";
    out.expression = "scale<4>";
    out.arch = "sm_90";
    out.flags = {"-O3"};
    out.directory = "/src";
    out.output = folder.path() / "scratch/module-1";
    return out;
  }

  std::unique_ptr<ProcessRunner> processes;
  TemporaryDirectory folder;
};

TEST_F(EmulatedToolchainTest, AsksAndTakesTheModule) {
  ASSERT_TRUE(writeFileAtomically(folder.path() / "image", fakes::buildCubin("k", "code")));
  const auto toolchain = frontend(
      "cp '" + (folder.path() / "image").string() + "' '" +
      (folder.path() / "scratch/module-1.so").string() + "'\n" +
      replying(R"({"ok":true,"is_limit":false,"log":"a warning","symbol":"_Z5scaleILi4EEvPf"})"));
  EXPECT_EQ(toolchain->name(), "emulated (clang 19)");
  const auto outcome = must(toolchain->build(request()));
  EXPECT_TRUE(outcome.ok);
  EXPECT_EQ(outcome.module, folder.path() / "scratch/module-1.so");
  EXPECT_EQ(outcome.log, "a warning");
  EXPECT_EQ(outcome.hash.size(), 32u);
  const auto asked = nlohmann::json::parse(*readFile(folder.path() / "request"));
  EXPECT_EQ(asked["expression"], "scale<4>");
  EXPECT_EQ(asked["directory"], "/src");
  EXPECT_EQ(asked["output"], (folder.path() / "scratch/module-1.so").string());
  BuildRequest other = request();
  other.symbol = "_Z5scaleILi8EEvPf";
  EXPECT_FALSE(toolchain->build(other)->ok);
}

TEST_F(EmulatedToolchainTest, DiagnosticsAreTheCandidates) {
  const auto outcome =
      frontend(
          replying(R"({"ok":false,"is_limit":true,"log":"slice.cu:1:1: error: no","symbol":""})"))
          ->build(request());
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ok);
  EXPECT_EQ(outcome->fault, BuildFault::Device);
  EXPECT_EQ(outcome->log, "slice.cu:1:1: error: no");
}

TEST_F(EmulatedToolchainTest, RefusedRequestsAndNonsenseAreBugs) {
  EXPECT_THAT(
      frontend(replying(R"({"error":{"what":"no slice","where":"x:1","hint":"h"}})") + "\nexit 1")
          ->build(request()),
      fails({.code = ErrorCode::Internal, .what = HasSubstr("no slice")}));
  for (const char *text : {"", "not json", "[]", "{}", R"({"ok":"yes"})"})
    EXPECT_FALSE(frontend(replying(text))->build(request())) << text;
}

TEST_F(EmulatedToolchainTest, AMissingFrontEndIsNamed) {
  EXPECT_THAT(
      makeEmulatedToolchain(*processes, "/nonexistent/kopt-frontend"),
      fails({.code = ErrorCode::Environment, .what = HasSubstr("/nonexistent/kopt-frontend")}));
}

} // namespace
