// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/header/HeaderFiles.h"

#include "driver/integrate/overlay/Overlay.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

const std::string kSource = "constexpr int W = 4;\n"
                            "void k() {\n  k(W);\n}\n"
                            "void t() {\n  t(W);\n}\n";
const std::string kK = "void k() {\n  k(W);\n}", kT = "void t() {\n  t(W);\n}";

class HeaderFilesTest : public testing::Test {
protected:
  HeaderFilesTest() {
    EXPECT_TRUE(writeFileAtomically(root() / "src/a.cu", kSource));
    session_.name = "session-1";
    session_.root = root().string();
    session_.startedUtc = "2026-01-31T12:00:00Z";
    request_.folder = root() / "kopt";
  }
  std::filesystem::path root() const { return folder_.path(); }

  static TunedText use(const std::string &text, const std::string &name) {
    return {"src/a.cu", kSource.find(text), kSource.find(text) + text.size(), name};
  }
  static SessionWin win(const std::string &kernel, const std::string &old, const std::string &fresh,
                        std::vector<TunedText> uses, const std::string &arch = "sm_90") {
    SessionWin made;
    made.kernel = kernel;
    made.symbol = "_Z" + kernel;
    made.place = "src/a.cu:2";
    made.title = "faster";
    made.runName = kernel + "-1";
    made.state = WinState::Confirmed;
    made.isolated = {1.5, 1.4, 1.6};
    made.variant.emplace();
    made.variant->arch = arch;
    made.variant->device = "GPU";
    made.variant->fileHashes["src/a.cu"] = hashHex(kSource);
    made.variant->uses = std::move(uses);
    made.variant->edits = {{"src/a.cu", kSource.find(old), kSource.find(old) + old.size(), fresh}};
    return made;
  }
  static SessionWin winOfK(const std::string &fresh = "void k() {\n  k(4);\n}\nint more;",
                           const std::string &arch = "sm_90") {
    return win("k", kK, fresh,
               {use("constexpr int W = 4;", "the constant 'W'"), use(kK, "the kernel 'k'")}, arch);
  }
  static SessionWin winOfT() {
    return win("ns::t<4>", kT, "void t() {\n  t(4);\n}", {use(kT, "the kernel 't'")});
  }

  Result<HeaderChange> write(const std::vector<SessionWin> &wins) {
    std::vector<const SessionWin *> pointers;
    for (const SessionWin &one : wins)
      pointers.push_back(&one);
    return writeHeaders(session_, pointers, request_);
  }
  overlay::Lock lock() {
    const auto read = lockIn(request_.folder);
    EXPECT_TRUE(read) << read.error().what;
    return read.value_or(overlay::Lock());
  }
  std::vector<std::string> kernels() {
    std::vector<std::string> names;
    for (const overlay::Entry &entry : lock().entries)
      names.push_back(entry.kernel + " " + entry.archs.at(0));
    return names;
  }
  /// What the compiler sees in place of the file, without directives.
  std::string overlaid() {
    overlay::Sources sources(root().string(), "");
    const overlay::OverlaySet set = overlay::makeOverlays(lock(),
                                                          {(root() / "src/a.cu").string(),
                                                           request_.folder.string(),
                                                           (root() / "o").string(),
                                                           root().string(),
                                                           {},
                                                           overlay::parseArchs("90")},
                                                          sources);
    std::string text;
    for (const auto &message : set.messages)
      text += message.text;
    const auto made = set.texts.find((root() / "src/a.cu").string());
    if (made == set.texts.end())
      return text;
    std::istringstream lines(made->second);
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("#line"))
        text += line + "\n";
    return text;
  }

  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-header").value());
  SessionRecord session_;
  HeaderRequest request_;
};

TEST_F(HeaderFilesTest, WhatIsWrittenIsWhatTheBuildSees) {
  const auto change = write({winOfK(), winOfT()});
  ASSERT_TRUE(change) << change.error().what;
  EXPECT_EQ(overlaid(),
            "constexpr int W = 4;\nvoid k() {\n  k(4);\n}\nint more;\nvoid t() {\n  t(4);\n}\n");
  EXPECT_EQ(readFile(root() / "src/a.cu").value(), kSource);
  std::vector<std::string> files;
  for (const AppliedFile &file : change->files)
    files.push_back(file.file.filename().string());
  EXPECT_THAT(files, UnorderedElementsAre("k.cuh", "ns_t.cuh", "kopt.lock", "kopt.cmake",
                                          "kopt-overlay.cpp", "kopt.h"));
  const std::string variants = readFile(request_.folder / "k.cuh").value();
  EXPECT_THAT(
      variants,
      HasSubstr(
          "// k (src/a.cu:2), for sm_90: 1.50 times as fast [1.40, 1.60] in isolation on GPU\n"));
  EXPECT_THAT(variants, HasSubstr("\nvoid k() {\n  k(4);\n}\nint more;\n"));
  EXPECT_EQ(lock().entries.at(0).uses.at(1).line, 2u);
  // Once more: nothing to change.
  EXPECT_THAT(write({winOfK(), winOfT()})->files, IsEmpty());
}

TEST_F(HeaderFilesTest, TuningAgainReplacesItsOwnKernelAlone) {
  ASSERT_TRUE(write({winOfK(), winOfT()}));
  session_.name = "session-2";
  ASSERT_TRUE(write({winOfK("void k() {\n  k(5);\n}")}));
  EXPECT_THAT(kernels(), UnorderedElementsAre("k sm_90", "ns::t<4> sm_90"));
  EXPECT_THAT(overlaid(), HasSubstr("k(5)"));
  EXPECT_THAT(overlaid(), HasSubstr("t(4)"));
  EXPECT_THAT(readFile(request_.folder / "k.cuh").value(), Not(HasSubstr("k(4)")));
}

TEST_F(HeaderFilesTest, AnotherArchitectureIsAnotherVariant) {
  ASSERT_TRUE(write({winOfK()}));
  session_.name = "session-2";
  ASSERT_TRUE(write({winOfK("void k() {\n  k(80);\n}", "sm_80")}));
  EXPECT_THAT(kernels(), UnorderedElementsAre("k sm_80", "k sm_90"));
  EXPECT_THAT(overlaid(), HasSubstr("k(4)"));
  EXPECT_THAT(readFile(request_.folder / "k.cuh").value(), HasSubstr("k(80)"));
}

TEST_F(HeaderFilesTest, VariantsThatNobodyJudgedTogetherAreNotKeptTogether) {
  ASSERT_TRUE(write({winOfK()})); // judged with W = 4
  session_.name = "session-2";
  const auto change =
      write({win("t", "4", "8", {use("constexpr int W = 4;", "the constant 'W'")})});
  ASSERT_TRUE(change);
  EXPECT_THAT(kernels(), ElementsAre("t sm_90"));
  ASSERT_EQ(change->notes.size(), 1u);
  EXPECT_THAT(change->notes[0], HasSubstr("the variant of 'k' from session-1 is removed"));
  EXPECT_FALSE(std::filesystem::exists(request_.folder / "k.cuh"));
}

TEST_F(HeaderFilesTest, AFileThatChangedSinceWritesNothing) {
  ASSERT_TRUE(writeFileAtomically(root() / "src/a.cu", kSource + "\n"));
  const auto refused = write({winOfK()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::StaleInput);
  EXPECT_FALSE(std::filesystem::exists(request_.folder));
}

TEST_F(HeaderFilesTest, ALockThatCannotBeReadIsNotReplaced) {
  ASSERT_TRUE(writeFileAtomically(request_.folder / "kopt.lock", "<<<<<<< ours"));
  const auto refused = write({winOfK()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::StaleInput);
  EXPECT_EQ(refused.error().where, (request_.folder / "kopt.lock").string() + ":1");
  EXPECT_EQ(readFile(request_.folder / "kopt.lock").value(), "<<<<<<< ours");
}

TEST_F(HeaderFilesTest, ACheckWritesNothing) {
  request_.checkOnly = true;
  EXPECT_EQ(write({winOfK()})->files.size(), 5u);
  EXPECT_FALSE(std::filesystem::exists(request_.folder));
}

TEST_F(HeaderFilesTest, AGeneratedFileIsNamedByItsBuildFolder) {
  request_.buildFolder = root() / "src";
  request_.archs = {"all"};
  ASSERT_TRUE(write({winOfK()}));
  EXPECT_EQ(lock().entries.at(0).uses.at(0).file, "build:a.cu");
  EXPECT_THAT(lock().entries.at(0).archs, ElementsAre("all"));
}

TEST_F(HeaderFilesTest, ARegressionIsWrittenAndTakenBack) {
  ASSERT_TRUE(write({winOfK()}));
  const std::string before = readFile(request_.folder / "kopt.lock").value();
  ASSERT_TRUE(recordRegression(request_.folder, 0, "0.9x"));
  EXPECT_EQ(lock().entries.at(0).regressed, "0.9x");
  ASSERT_TRUE(recordRegression(request_.folder, 0, ""));
  EXPECT_EQ(readFile(request_.folder / "kopt.lock").value(), before);
  EXPECT_EQ(recordRegression(request_.folder, 1, "0.9x").error().code, ErrorCode::StaleInput);
}

TEST_F(HeaderFilesTest, AWinOfAnOlderKoptSaysSo) {
  SessionWin old = winOfK();
  old.variant.reset();
  const auto refused = write({old});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("without header mode"));
}

} // namespace
} // namespace kopt
