// SPDX-License-Identifier: Apache-2.0
// Patches against real files, and against the real git wherever git is what will read them.
#include "driver/integrate/patch/Patch.h"
#include "driver/integrate/patch/FileSwap.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Process.h"
#include "driver/support/UnifiedDiff.h"
#include "tests/fakes/Results.h"

#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopt {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace fs = std::filesystem;

class PatchTest : public ::testing::Test {
protected:
  void SetUp() override {
    git({"init", "-q"});
    write("src/kernel.cu", kKernel);
    write("include/launch.h", kLaunch);
  }

  ProcessResult git(std::vector<std::string> arguments, const std::string &input = {}) {
    std::vector<std::string> argv{
        "git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=m"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    ProcessSpec spec;
    spec.argv = argv;
    spec.cwd = root();
    spec.env = {{"GIT_CONFIG_GLOBAL", "/dev/null"}, {"GIT_CONFIG_NOSYSTEM", "1"}};
    spec.input = input;
    auto result = processes_->run(spec);
    EXPECT_TRUE(result) << result.error().what;
    return result.value_or(ProcessResult{-1, false, {}, {}, false, {}});
  }

  fs::path root() const { return folder_.path(); }
  void write(const std::string &name, const std::string &text) {
    ASSERT_TRUE(writeFileAtomically(root() / name, text));
  }
  std::string read(const std::string &name) const {
    return readFile(root() / name).value_or("unreadable");
  }
  std::string name(const std::string &name) const { return (root() / name).string(); }
  std::map<std::string, std::string> hashes() const {
    return {{name("src/kernel.cu"), hashHex(read("src/kernel.cu"))},
            {name("include/launch.h"), hashHex(read("include/launch.h"))}};
  }
  /// Replaces one occurrence of a word, as a SourceEdit.
  SourceEdit replacing(const std::string &file, const std::string &word,
                       const std::string &text) const {
    const std::size_t at = read(file).find(word);
    EXPECT_NE(at, std::string::npos) << word;
    return {{name(file), at, at + word.size()}, text};
  }
  std::vector<SourceEdit> win() const {
    return {replacing("src/kernel.cu", "TILE = 16", "TILE = 32"),
            replacing("src/kernel.cu", "[TILE];", "[TILE + 1];"),
            replacing("include/launch.h", "TILE, 8", "TILE, 4")};
  }
  Patch winningPatch() const {
    auto patch = makePatch(win(), hashes(), root());
    EXPECT_TRUE(patch) << patch.error().what;
    return std::move(*patch);
  }

  inline static const std::string kKernel =
      "constexpr int TILE = 16;\n\n__global__ void k(float *x) {\n"
      "  __shared__ float tile[TILE][TILE];\n  x[0] = 1;\n}\n";
  inline static const std::string kLaunch = "// how it is launched\nconst dim3 block(TILE, 8);";
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-patch").value());
  std::unique_ptr<ProcessRunner> processes_ = makeProcessRunner();
};

TEST_F(PatchTest, GitAppliesIt) {
  const Patch patch = winningPatch();
  ASSERT_EQ(patch.files.size(), 2u);
  const ProcessResult result = git({"apply", "-"}, patch.text);
  EXPECT_EQ(result.exitCode, 0) << result.err << patch.text;
  EXPECT_EQ(read("src/kernel.cu"), "constexpr int TILE = 32;\n\n__global__ void k(float *x) {\n"
                                   "  __shared__ float tile[TILE][TILE + 1];\n  x[0] = 1;\n}\n");
  EXPECT_EQ(read("include/launch.h"), "// how it is launched\nconst dim3 block(TILE, 4);");
}

TEST_F(PatchTest, GitAppliesCarriageReturnsAndOddNames) {
  const std::string odd = "sub dir/k\xc3\xa4rnel \"1\".cu";
  write(odd, "int N = 1;\r\nint M;\r\n");
  auto patch =
      must(makePatch({replacing(odd, "1;", "2;")}, {{name(odd), hashHex(read(odd))}}, root()));
  const ProcessResult result = git({"apply", "-"}, patch.text);
  EXPECT_EQ(result.exitCode, 0) << result.err << patch.text;
  EXPECT_EQ(read(odd), "int N = 2;\r\nint M;\r\n");
}

TEST_F(PatchTest, WhatIsInsertedHasTheLineEndsOfTheFile) {
  const std::string text = "int N;\r\nint M;\r\nint L;\n";
  write("crlf.cu", text);
  git({"add", "."});
  git({"commit", "-q", "-m", "start"});
  auto patch = must(makePatch({replacing("crlf.cu", "int M;", "// more\nint M;\r\nint K;"),
                               replacing("crlf.cu", "int L;", "int L;\nint J;")},
                              {{name("crlf.cu"), hashHex(text)}}, root()));
  const std::string after = "int N;\r\n// more\r\nint M;\r\nint K;\r\nint L;\nint J;\n";
  const std::string mail = formatMail(patch, {});
  EXPECT_THAT(mail, HasSubstr("git am --keep-cr"));
  EXPECT_THAT(formatMail(winningPatch(), {}), Not(HasSubstr("keep-cr")));
  EXPECT_EQ(git({"apply", "--check", "-"}, mail).exitCode, 0);
  const ProcessResult result = git({"am", "-q", "--keep-cr", "-"}, mail);
  EXPECT_EQ(result.exitCode, 0) << result.err << mail;
  EXPECT_EQ(read("crlf.cu"), after);
  write("crlf.cu", text);
  ASSERT_TRUE(applyPatch(patch.files, root()));
  EXPECT_EQ(read("crlf.cu"), after);
}

TEST_F(PatchTest, WhereGitMakesTheLineEndsPlainAmTakesIt) {
  write(".gitattributes", "*.cu text eol=crlf\n");
  write("crlf.cu", "int N;\r\nint M;\r\n");
  git({"add", "."});
  git({"commit", "-q", "-m", "start"});
  auto patch = must(makePatch({replacing("crlf.cu", "int M;", "int K;")},
                              {{name("crlf.cu"), hashHex(read("crlf.cu"))}}, root()));
  const std::string mail = formatMail(patch, {});
  EXPECT_THAT(mail, HasSubstr("or git am where .gitattributes"));
  const ProcessResult result = git({"am", "-q", "-"}, mail);
  EXPECT_EQ(result.exitCode, 0) << result.err << mail;
  EXPECT_EQ(read("crlf.cu"), "int N;\r\nint K;\r\n");
}

TEST_F(PatchTest, APatchOfSeveralWorkTreesSaysThatGitAmDoesNotTakeIt) {
  EXPECT_THAT(formatMail(winningPatch(), {}), Not(HasSubstr("apply with")));
  write("include/.git", "gitdir: ../.git/modules/include\n");
  const Patch patch = winningPatch();
  const std::string mail = formatMail(patch, {});
  EXPECT_THAT(
      mail, HasSubstr("\n---\napply with kopt apply: it changes several git work trees\n\ndiff "));
  ASSERT_TRUE(applyPatch(patch.files, root()));
  EXPECT_THAT(read("include/launch.h"), HasSubstr("TILE, 4"));
}

TEST_F(PatchTest, AFileThatTheEditsDependOnMustBeTheSame) {
  write("include/other.h", "#define N 1\n");
  auto patch =
      must(makePatch({replacing("src/kernel.cu", "TILE = 16", "TILE = 32")}, hashes(), root(),
                     {{name("include/other.h"), hashHex(read("include/other.h"))},
                      {name("src/kernel.cu"), hashHex(kKernel)}}));
  ASSERT_EQ(patch.files.size(), 1u);
  ASSERT_EQ(patch.others.size(), 1u);
  std::vector<FileEdits> files = patch.files;
  files.push_back(patch.others.front());
  write("include/other.h", "#define N 2\n");
  EXPECT_THAT(applyPatch(files, root()),
              fails({.code = ErrorCode::StaleInput, .what = HasSubstr("include/other.h changed")}));
  EXPECT_EQ(read("src/kernel.cu"), kKernel);
  fs::remove(root() / "include/other.h");
  EXPECT_FALSE(applyPatch(files, root()));
  write("include/other.h", "#define N 1\n");
  const auto applied = must(applyPatch(files, root()));
  EXPECT_EQ(applied.size(), 1u);
}

TEST_F(PatchTest, GitAmTakesTheMailWithItsEvidence) {
  git({"add", "."});
  git({"commit", "-q", "-m", "start"});
  PatchMessage message;
  message.subject = "k: 2.9 times as fast on NVIDIA H200";
  message.body = "Measured:\n--- a line that would end the message\ndiff --git is one too\nFrom "
                 "here on: fine\n";
  message.kernel = "k";
  message.device = "NVIDIA H200";
  message.speedup = "2.90 (2.85 to 2.95)";
  message.verifiedBy = "kopt, 4 launches";
  const ProcessResult result = git({"am", "-q"}, formatMail(winningPatch(), message));
  ASSERT_EQ(result.exitCode, 0) << result.err << result.out;
  EXPECT_THAT(read("src/kernel.cu"), HasSubstr("[TILE + 1]"));
  const std::string log = git({"log", "-1", "--format=%s%n%an%n%B"}).out;
  EXPECT_EQ(log.substr(0, log.find('\n')), message.subject);
  EXPECT_THAT(log, HasSubstr("that would end the message"));
  EXPECT_THAT(log, HasSubstr("Kopt-Verified-By: kopt, 4 launches"));
  EXPECT_EQ(git({"log", "-1", "--format=%(trailers:key=Kopt-Speedup,valueonly)"}).out.substr(0, 4),
            "2.90");
  EXPECT_EQ(git({"status", "--porcelain"}).out, "");
}

TEST_F(PatchTest, WhatAFileIsCompiledWithIsNamed) {
  git({"add", "."});
  git({"commit", "-q", "-m", "start"});
  const std::string file = (root() / "src/kernel.cu").string();
  const Patch patch = must(
      makePatch(win(), hashes(), root(), {}, {{file, {"-Xptxas=-dlcm=cg", "-use_fast_math"}}}));
  const std::string mail = formatMail(patch, {});
  EXPECT_THAT(mail, testing::HasSubstr(
                        "set_source_files_properties(src/kernel.cu PROPERTIES COMPILE_OPTIONS "
                        "\"-Xptxas=-dlcm=cg;-use_fast_math\")"));
  const ProcessResult result = git({"am"}, mail);
  EXPECT_EQ(result.exitCode, 0) << result.err << mail;
  const auto flags = [](const std::vector<AppliedFile> &applied) {
    std::vector<std::size_t> counts;
    for (const AppliedFile &file : applied)
      counts.push_back(file.flags.size());
    return counts;
  };
  const ProcessResult undone = git({"reset", "--hard", "HEAD~1"}, "");
  EXPECT_EQ(undone.exitCode, 0) << undone.err;
  EXPECT_THAT(flags(must(applyPatch(patch.files, root()))), testing::ElementsAre(0, 2));
}

TEST_F(PatchTest, GitMakesTheSameOfTheDiffAsTheEditsDo) {
  std::mt19937 random(1);
  const auto text = [&] {
    std::string lines;
    for (int i = int(random() % 40); i > 0; --i)
      lines += std::string(1, char('a' + random() % 4)) + (random() % 9 ? "\n" : "\r\n");
    if (random() % 3 == 0 && !lines.empty())
      lines.pop_back();
    return lines + (lines.empty() ? "x" : "");
  };
  std::string diff;
  std::map<std::string, std::string> wanted;
  for (int i = 0; i < 200; ++i) {
    const std::string file = "any/" + std::to_string(i) + ".cu", before = text(), after = text();
    write(file, before);
    diff += formatDiff(diffTexts(file, before, after));
    wanted[file] = after;
  }
  const ProcessResult result = git({"apply", "-"}, diff);
  ASSERT_EQ(result.exitCode, 0) << result.err;
  for (const auto &[file, after] : wanted)
    ASSERT_EQ(read(file), after) << file;
}

TEST_F(PatchTest, AppliesItsEdits) {
  const Patch patch = winningPatch();
  ASSERT_EQ(patch.files.size(), 2u);
  EXPECT_EQ(patch.files.back().path, "src/kernel.cu");
  EXPECT_EQ(patch.files.back().baseHash, hashHex(kKernel));
  EXPECT_EQ(patch.files.back().edits.size(), 2u);
  const auto checked = applyPatch(patch.files, root(), true);
  ASSERT_TRUE(checked) << checked.error().what;
  EXPECT_EQ(read("src/kernel.cu"), kKernel);
  const auto applied = must(applyPatch(patch.files, root()));
  ASSERT_EQ(applied.size(), 2u);
  EXPECT_EQ(applied.back().lines.added, 2u);
  EXPECT_EQ(applied.back().lines.removed, 2u);
  EXPECT_EQ(hashHex(read("src/kernel.cu")), patch.files.back().resultHash);
  EXPECT_THAT(read("src/kernel.cu"), HasSubstr("TILE = 32"));
  EXPECT_THAT(read("include/launch.h"), HasSubstr("TILE, 4"));
}

TEST_F(PatchTest, ApplyingTwiceSaysSo) {
  const Patch patch = winningPatch();
  ASSERT_TRUE(applyPatch(patch.files, root()));
  for (const bool checkOnly : {true, false}) {
    EXPECT_THAT(applyPatch(patch.files, root(), checkOnly),
                fails({.code = ErrorCode::StaleInput, .what = HasSubstr("already applied")}));
  }
}

/// The names of the files under `folder`, without git's own.
std::set<std::string> namesIn(const fs::path &folder) {
  std::set<std::string> names;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().string().find("/.git/") == std::string::npos)
      names.insert(fs::relative(entry.path(), folder).string());
  return names;
}

TEST_F(PatchTest, WhatAKillInterruptsIsCompleted) {
  const Patch patch = winningPatch();
  const std::set<std::string> names = namesIn(root());
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(applyPatch(patch.files, root()));
  const double whole =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::mt19937 random(7);
  std::uniform_real_distribution<> moment(0, 1.2 * whole);
  for (int i = 0; i < 50; ++i) {
    write("src/kernel.cu", kKernel);
    write("include/launch.h", kLaunch);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)applyPatch(patch.files, root());
      ::_exit(0);
    }
    ::usleep(useconds_t(moment(random) * 1e6));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    int changed = 0;
    for (const FileEdits &file : patch.files) {
      const std::string hash = hashHex(read(file.path));
      changed += hash == file.resultHash;
      ASSERT_TRUE(hash == file.resultHash || hash == file.baseHash) << "half a file";
    }
    const auto again = applyPatch(patch.files, root());
    ASSERT_EQ(again.has_value(), changed < 2);
    for (const FileEdits &file : patch.files)
      ASSERT_EQ(hashHex(read(file.path)), file.resultHash);
    ASSERT_EQ(namesIn(root()), names) << "something is left beside the files";
  }
}

TEST_F(PatchTest, OfTwoFilesTheOneThatIsNotChangedYetIsChanged) {
  const Patch patch = winningPatch();
  ASSERT_TRUE(applyPatch(patch.files, root()));
  write("include/launch.h", kLaunch);
  const auto again = must(applyPatch(patch.files, root()));
  EXPECT_EQ(again.size(), 1u);
  EXPECT_THAT(read("include/launch.h"), HasSubstr("TILE, 4"));
}

TEST_F(PatchTest, DamagedEditsChangeNothing) {
  for (const auto &damage : {+[](SourceEdit &edit) { edit.text += "x"; },
                             +[](SourceEdit &edit) { edit.range.end = 5000; },
                             +[](SourceEdit &edit) { edit.range.begin = edit.range.end + 1; },
                             +[](SourceEdit &edit) { edit.range.begin = 6000; }}) {
    std::vector<FileEdits> files = winningPatch().files;
    damage(files.back().edits.back());
    EXPECT_THAT(applyPatch(files, root()), fails({.code = ErrorCode::StaleInput}));
    EXPECT_EQ(read("src/kernel.cu"), kKernel);
    EXPECT_EQ(read("include/launch.h"), kLaunch);
  }
}

TEST_F(PatchTest, AFileThatChangedSinceTuningIsStale) {
  const auto before = hashes();
  const auto edits = win();
  write("include/launch.h", kLaunch + "\n");
  EXPECT_THAT(makePatch(edits, before, root()),
              fails({.code = ErrorCode::StaleInput, .where = name("include/launch.h")}));
}

TEST_F(PatchTest, AFileOfUnknownHashIsStale) {
  auto known = hashes();
  known.erase(name("src/kernel.cu"));
  EXPECT_THAT(makePatch(win(), known, root()), fails({.code = ErrorCode::StaleInput}));
}

TEST_F(PatchTest, OneStaleFileLeavesAllUntouched) {
  const Patch patch = winningPatch();
  write("src/kernel.cu", "// rewritten\n"); // sorted after include/launch.h
  EXPECT_THAT(applyPatch(patch.files, root()),
              fails({.code = ErrorCode::StaleInput, .what = HasSubstr("src/kernel.cu changed")}));
  EXPECT_EQ(read("include/launch.h"), kLaunch);
}

TEST_F(PatchTest, AChangeElsewhereInTheFileIsStaleToo) {
  const Patch patch = winningPatch();
  write("src/kernel.cu", kKernel + "// far below\n");
  EXPECT_THAT(applyPatch(patch.files, root()),
              fails({.what = HasSubstr("changed since it was tuned")}));
  EXPECT_EQ(git({"apply", "--check", "-"}, patch.text).exitCode, 0) << "git still takes it";
}

TEST_F(PatchTest, EditsThatChangeNothingMakeAnEmptyPatch) {
  const auto patch =
      must(makePatch({replacing("src/kernel.cu", "TILE = 16", "TILE = 16")}, hashes(), root()));
  EXPECT_TRUE(patch.files.empty());
  EXPECT_EQ(patch.text, "");
}

TEST_F(PatchTest, AFileOutsideTheRootIsRefusedBothWays) {
  EXPECT_THAT(makePatch(win(), hashes(), root() / "src"), fails({.code = ErrorCode::Usage}));
  std::vector<FileEdits> escaping = winningPatch().files;
  escaping.front().path = "../include/launch.h";
  EXPECT_THAT(applyPatch(escaping, root() / "src"), fails({.code = ErrorCode::Usage}));
  EXPECT_EQ(read("include/launch.h"), kLaunch);
}

TEST_F(PatchTest, TheRootIsTheRepositoryOrTheFolder) {
  EXPECT_EQ(patchRoot({root() / "src/kernel.cu"}), fs::canonical(root()));
  auto plain = must(TemporaryDirectory::create("kopt-plain"));
  EXPECT_EQ(patchRoot({plain.path()}), fs::canonical(plain.path()));
  // A submodule is a project of its own; both together are in the outer one.
  write("lib/.git", "gitdir: ../.git/modules/lib\n");
  EXPECT_EQ(patchRoot({root() / "lib/a.cuh"}), fs::canonical(root() / "lib"));
  EXPECT_EQ(patchRoot({root() / "lib/a.cuh", root() / "src/kernel.cu"}), fs::canonical(root()));
  // Without git, the build folder says where the sources are.
  const fs::path build = plain.path() / "build";
  ASSERT_TRUE(writeFileAtomically(build / "CMakeCache.txt",
                                  "CMAKE_HOME_DIRECTORY:INTERNAL=" + plain.path().string() + "\n"));
  ASSERT_TRUE(writeFileAtomically(plain.path() / "include/k.cuh", "\n"));
  for (const fs::path &known : {build, build / "compile_commands.json"})
    EXPECT_EQ(patchRoot({plain.path() / "include/k.cuh"}, known), fs::canonical(plain.path()));
  EXPECT_EQ(patchRoot({plain.path() / "include/k.cuh"}), fs::canonical(plain.path() / "include"));
}

TEST_F(PatchTest, SwapKeepsPermissionsAndLinksAndLeavesNothingBeside) {
  fs::permissions(root() / "src/kernel.cu", fs::perms(0751));
  fs::create_symlink("src/kernel.cu", root() / "link.cu");
  ASSERT_TRUE(swapFiles({{root() / "link.cu", "new\n"}}));
  EXPECT_EQ(read("src/kernel.cu"), "new\n");
  EXPECT_TRUE(fs::is_symlink(root() / "link.cu"));
  EXPECT_EQ(fs::status(root() / "src/kernel.cu").permissions(), fs::perms(0751));
  EXPECT_EQ(std::distance(fs::directory_iterator(root() / "src"), fs::directory_iterator()), 1);
}

TEST_F(PatchTest, SwapThatFailsAtTheSecondFileRestoresTheFirst) {
  const Status status =
      swapFiles({{root() / "src/kernel.cu", "new\n"}, {root() / "missing/file.cu", "new\n"}});
  EXPECT_THAT(status, fails({.code = ErrorCode::Environment}));
  EXPECT_EQ(read("src/kernel.cu"), kKernel);
  EXPECT_EQ(std::distance(fs::directory_iterator(root() / "src"), fs::directory_iterator()), 1);
}

/// While it lives, no file can grow beyond so many bytes: what a full disk looks like to a write.
class FileSizeLimit {
public:
  explicit FileSizeLimit(rlim_t bytes) {
    previousHandler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limit{bytes, previous_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &previous_);
    std::signal(SIGXFSZ, previousHandler_);
  }

private:
  rlimit previous_{};
  void (*previousHandler_)(int) = nullptr;
};

TEST_F(PatchTest, SwapThatRunsOutOfSpaceLeavesEverythingAsItWas) {
  Status status;
  {
    const FileSizeLimit limit(4096);
    status = swapFiles({{root() / "src/kernel.cu", "new\n"},
                        {root() / "include/launch.h", std::string(9000, 'x')}});
  }
  EXPECT_THAT(status, fails({.code = ErrorCode::Environment}));
  EXPECT_EQ(read("src/kernel.cu"), kKernel);
  EXPECT_EQ(read("include/launch.h"), kLaunch);
  for (const char *folder : {"src", "include"})
    EXPECT_EQ(std::distance(fs::directory_iterator(root() / folder), fs::directory_iterator()), 1);
}

} // namespace
} // namespace kopt
