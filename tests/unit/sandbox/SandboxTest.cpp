// SPDX-License-Identifier: Apache-2.0
// What a hostile program gets in the sandbox, beside what it gets without: a check that could not
// fail shows nothing.
#include "driver/sandbox/Sandbox.h"
#include "driver/device/runner/RunnerClient.h"

#include "driver/model/Device.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace kopt;
using testing::HasSubstr;
namespace fs = std::filesystem;

class SandboxTest : public testing::Test {
protected:
  SandboxTest()
      : processes(makeProcessRunner()),
        folder(std::move(*TemporaryDirectory::create("kopt-sandbox"))) {
    auto opened = Sandbox::open(*processes, KOPT_BINARY_DIR "/bin/kopt-sandbox", SandboxMode::Auto);
    EXPECT_TRUE(opened) << opened.error().what;
    sandbox = *opened;
    policy.readable = {fs::path(KOPT_HOSTILE).parent_path()};
    policy.processes = 1;
  }
  void SetUp() override {
    if (!sandbox.hasNamespaces())
      GTEST_SKIP() << "this machine gives no namespaces: " << sandbox.layers().at(0).detail;
  }

  ProcessSpec attempt(std::vector<std::string> words) {
    ProcessSpec spec;
    spec.argv = {KOPT_HOSTILE};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.timeout = Duration(20);
    return spec;
  }
  std::string answer(const ProcessSpec &spec) {
    const auto result = processes->run(spec);
    return result ? result->out + result->err +
                        (result->ok() ? "" : "exit " + std::to_string(result->exitCode))
                  : result.error().what;
  }
  std::string contained(std::vector<std::string> words) {
    return answer(sandbox.contain(attempt(words), policy));
  }
  std::string free(std::vector<std::string> words) { return answer(attempt(words)); }

  std::unique_ptr<ProcessRunner> processes;
  TemporaryDirectory folder;
  Sandbox sandbox;
  SandboxPolicy policy;
};

/// A kopt-sandbox that says what the test wants.
fs::path saying(const TemporaryDirectory &folder, const std::string &lines) {
  const fs::path script = folder.path() / "launcher";
  EXPECT_TRUE(writeFileAtomically(script, "#!/bin/sh\ncat <<'END'\n" + lines + "END\n"));
  fs::permissions(script, fs::perms::all);
  return script;
}

const char *const kGot = "got it\n", *const kRefused = "refused\n";

TEST_F(SandboxTest, FilesOutsideAreNotThere) {
  const fs::path secret = folder.path() / "key";
  ASSERT_TRUE(writeFileAtomically(secret, "secret"));
  EXPECT_EQ(free({"read", secret}), kGot);
  EXPECT_EQ(contained({"read", secret}), kRefused);
  EXPECT_EQ(contained({"exists", secret}), kRefused);
  for (const char *file :
       {"/etc/passwd", "/etc/hostname", "/root", "/home", "/var", "/run", "/proc/1/environ"})
    EXPECT_EQ(contained({"read", file}), kRefused) << file;
  EXPECT_EQ(contained({"exists", "/usr/bin"}), kGot);
}

TEST_F(SandboxTest, WhatIsReadableIsNotWritable) {
  const fs::path file = folder.path() / "given";
  ASSERT_TRUE(writeFileAtomically(file, "x"));
  policy.readable.push_back(folder.path());
  EXPECT_EQ(contained({"read", file}), kGot);
  EXPECT_EQ(contained({"write", file}), kRefused);
  EXPECT_EQ(contained({"write", folder.path() / "new"}), kRefused);
  EXPECT_EQ(contained({"write", "/usr/bin/new"}), kRefused);
  EXPECT_EQ(contained({"write", "/new"}), kRefused);
  policy.writable.push_back(folder.path());
  EXPECT_EQ(contained({"write", folder.path() / "new"}), kGot);
  EXPECT_TRUE(fs::exists(folder.path() / "new"));
}

TEST_F(SandboxTest, WhatLiesBehindALinkInAShownFolderIsShown) {
  ASSERT_TRUE(writeFileAtomically(folder.path() / "z/real/file", "x"));
  ASSERT_TRUE(createDirectories(folder.path() / "a"));
  fs::create_directory_symlink(folder.path() / "z/real", folder.path() / "a/link");
  fs::create_directory_symlink(folder.path() / "a", folder.path() / "b");
  policy.readable = {fs::path(KOPT_HOSTILE).parent_path(), folder.path() / "a",
                     folder.path() / "a/link/file", folder.path() / "b"};
  policy.writable = {folder.path() / "b/written"};
  ASSERT_TRUE(createDirectories(folder.path() / "a/written"));
  EXPECT_EQ(contained({"read", folder.path() / "a/link/file"}), kGot);
  EXPECT_EQ(contained({"read", folder.path() / "b/link/file"}), kGot);
  EXPECT_EQ(contained({"write", folder.path() / "b/new"}), kRefused);
  EXPECT_EQ(contained({"write", folder.path() / "b/written/new"}), kGot);
  EXPECT_EQ(contained({"write", folder.path() / "a/written/new"}), kGot);
}

TEST_F(SandboxTest, TheHomesKeysAreHiddenWhereTheHomeIsShown) {
  const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
  setenv("HOME", folder.path().c_str(), 1);
  ASSERT_TRUE(writeFileAtomically(folder.path() / ".ssh/id", "key"));
  ASSERT_TRUE(writeFileAtomically(folder.path() / ".netrc", "key"));
  ASSERT_TRUE(writeFileAtomically(folder.path() / "project/a.cu", "x"));
  policy.readable.push_back(folder.path());
  EXPECT_EQ(contained({"read", folder.path() / "project/a.cu"}), kGot);
  EXPECT_EQ(contained({"read", folder.path() / ".ssh/id"}), kRefused);
  EXPECT_EQ(contained({"read", folder.path() / ".netrc"}), kRefused);
  setenv("HOME", home.c_str(), 1);
}

TEST_F(SandboxTest, ThereIsNoNetworkAndNoSocketOfOthers) {
  const std::string path = (folder.path() / "socket").string();
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  EXPECT_EQ(free({"connect", path}), kGot);
  EXPECT_EQ(contained({"connect", path}), kRefused);
  for (const char *kind : {"inet", "netlink", "unix"}) {
    EXPECT_EQ(free({kind}), kGot) << kind;
    EXPECT_EQ(contained({kind}), kRefused) << kind;
  }
  policy.unixSockets = true;
  EXPECT_EQ(contained({"unix"}), kGot);
  EXPECT_EQ(contained({"inet"}), kRefused);
  EXPECT_EQ(contained({"connect", path}), kRefused);
  close(listener);
}

TEST_F(SandboxTest, OtherProcessesAreOutOfReach) {
  const std::string self = std::to_string(getpid());
  EXPECT_EQ(free({"signal", self}), kGot);
  EXPECT_EQ(free({"others", "kopt-hostile"}), kGot);
  for (const std::vector<std::string> &words : {std::vector<std::string>{"signal", self},
                                                {"signal", "1"},
                                                {"trace", self},
                                                {"trace-parent"},
                                                {"memory-of", self},
                                                {"memory-of", "1"},
                                                {"kill-parent"},
                                                {"kill-group"},
                                                {"others", "kopt-hostile"}})
    EXPECT_EQ(contained(words), kRefused) << words[0];
}

TEST_F(SandboxTest, TheKernelsOwnDoorsAreShut) {
  for (const char *door : {"mount", "unshare", "setns", "perf", "bpf", "keys", "userfaultfd",
                           "chroot", "device", "descriptor"})
    EXPECT_EQ(contained({door}), kRefused) << door;
}

TEST_F(SandboxTest, OfProcOnlyItsOwnProcessesCanBeWritten) {
  const auto isPrivate = [](const SandboxLayer &layer) {
    return layer.name == "private /proc" && layer.active;
  };
  if (std::none_of(sandbox.layers().begin(), sandbox.layers().end(), isPrivate))
    GTEST_SKIP() << "this machine gives no private /proc";
  EXPECT_EQ(contained({"write", "/proc/self/comm"}), kGot)
      << "CUDA's driver names its threads there";
  EXPECT_EQ(contained({"write", "/proc/thread-self/comm"}), kGot);
  for (const char *file : {"/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
                           "/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/1/mem"})
    EXPECT_EQ(contained({"write", file}), kRefused) << file;
}

TEST_F(SandboxTest, OneProcessMeansOneAndMoreAreCounted) {
  EXPECT_EQ(contained({"fork"}), kRefused);
  policy.processes = 0;
  EXPECT_EQ(contained({"fork"}), kGot);
  EXPECT_EQ(contained({"trace-parent"}), kRefused);
  EXPECT_EQ(contained({"kill-parent"}), kRefused)
      << "the first process of the namespace cannot be killed from inside";
}

TEST_F(SandboxTest, ManyProcessesAreTooMany) {
  utsname system{};
  ASSERT_EQ(uname(&system), 0);
  int major = 0, minor = 0;
  ASSERT_EQ(std::sscanf(system.release, "%d.%d", &major, &minor), 2);
  if (major * 100 + minor < 614)
    GTEST_SKIP() << "this kernel does not count processes by namespace";
  policy.processes = 4096;
  EXPECT_EQ(contained({"fork-bomb", "100"}), kGot);
  EXPECT_EQ(contained({"fork-bomb", "600"}), kRefused);
}

TEST_F(SandboxTest, TheProgramDiesWithItsLauncherAtAnyMoment) {
  std::vector<std::string> words = sandbox.contain(attempt({"sleep"}), policy).argv;
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  for (int delay = 0; delay < 20'000; delay += 500) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t launcher = fork();
    if (launcher == 0) {
      dup2(ends[1], 1);
      execv(argv[0], argv.data());
      _exit(1);
    }
    close(ends[1]);
    usleep(static_cast<useconds_t>(delay));
    kill(launcher, SIGKILL); // it alone: none of its children
    waitpid(launcher, nullptr, 0);
    pollfd output{ends[0], POLLIN, 0};
    EXPECT_EQ(poll(&output, 1, 20'000), 1) << "lives on, killed after " << delay << " us";
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    close(ends[0]);
  }
}

TEST_F(SandboxTest, NothingSurvives) {
  policy.processes = 0;
  policy.writable.push_back(folder.path());
  const fs::path sign = folder.path() / "sign";
  EXPECT_EQ(contained({"leave-behind", sign}), kGot);
  usleep(1200 * 1000);
  EXPECT_FALSE(fs::exists(sign));
  EXPECT_EQ(free({"leave-behind", sign}), kGot);
  for (int i = 0; i < 3000 && !fs::exists(sign); ++i) // a loaded machine takes its time
    usleep(10 * 1000);
  EXPECT_TRUE(fs::exists(sign)) << "without the sandbox it does";
}

TEST_F(SandboxTest, ADeadlineEndsWhatIgnoresSignals) {
  ProcessSpec spec = sandbox.contain(attempt({"sleep"}), policy);
  spec.timeout = Duration(0.5);
  const auto result = must(processes->run(spec));
  EXPECT_TRUE(result.timedOut);
  EXPECT_LT(result.wall.count(), 10);
}

TEST_F(SandboxTest, LimitsHold) {
  policy.fileBytes = 1u << 20;
  EXPECT_EQ(contained({"fill", "/tmp/large"}), kRefused);
  policy.fileBytes.reset();
  policy.scratchBytes = 8u << 20;
  EXPECT_EQ(contained({"fill", "/tmp/large"}), kRefused);
  policy.scratchBytes = 128u << 20;
  EXPECT_EQ(contained({"fill", "/tmp/large"}), kGot);
  policy.addressBytes = 1u << 30;
  EXPECT_EQ(contained({"allocate", "4000000000"}), kRefused);
  policy.cpuSeconds = 1;
  EXPECT_THAT(contained({"spin"}), HasSubstr("exit 137"));
}

TEST_F(SandboxTest, OnlyTheVariablesThatAreNamed) {
  setenv("HOSTILE_SECRET_KEY", "x", 1);
  EXPECT_EQ(free({"variable", "HOSTILE_SECRET_KEY"}), kGot);
  EXPECT_EQ(contained({"variable", "HOSTILE_SECRET_KEY"}), kRefused);
  EXPECT_EQ(contained({"variable", "TMPDIR"}), kGot);
  unsetenv("HOSTILE_SECRET_KEY");
}

TEST_F(SandboxTest, AProgramThatCannotStartIsTheSandboxsError) {
  ProcessSpec spec;
  spec.argv = {"/nonexistent/program"};
  const auto result = must(processes->run(sandbox.contain(spec, policy)));
  const auto refusal = Sandbox::refusal(result.exitCode, result.err);
  ASSERT_TRUE(refusal);
  EXPECT_THAT(refusal->what, HasSubstr("/nonexistent/program"));
  EXPECT_FALSE(Sandbox::refusal(0, result.err));
  EXPECT_FALSE(Sandbox::refusal(125, "error: no kopt here"));
}

TEST_F(SandboxTest, NativeCodeInTheRunnerGetsNothing) {
  const fs::path built = folder.path() / "built";
  ASSERT_TRUE(writeFileAtomically(folder.path() / "secret/key", "secret"));
  ASSERT_TRUE(createDirectories(built));
  fs::copy_file(KOPT_HOSTILE_MODULE, built / "module.so");
  setenv("HOSTILE_SECRET_KEY", "x", 1);
  DeviceConfig config;
  config.kind = DeviceKind::Emulated;
  const auto open = [&](const Sandbox &how) {
    return startRunner(*processes, KOPT_BINARY_DIR "/bin/kopt-runner", config,
                       folder.path() / "scratch", KOPT_SOURCE_DIR "/knowledge/gpus", {},
                       {how, {built}});
  };
  auto runner = must(open(sandbox));
  const auto module = runner->load(built / "module.so", "");
  ASSERT_THAT(module, fails({.code = ErrorCode::BaselineFailed,
                             .what = HasSubstr("was not built for this version")}))
      << "the candidate's, not the machine's; exit code 100 + n: attempt n got through";
  EXPECT_FALSE(fs::exists(built / "written"));
  EXPECT_FALSE(fs::exists(folder.path() / "written"));

  // A forged reply costs the process, twice, and then the candidate.
  ASSERT_TRUE(writeFileAtomically(built / "forge", ""));
  EXPECT_THAT(runner->load(built / "module.so", ""),
              fails({.what = HasSubstr("an invalid reply")}));
  fs::remove(built / "forge");
  EXPECT_THAT(runner->load(built / "module.so", "").error().what,
              HasSubstr("was not built for this version"));

  // Uncontained, its first attempt is enough.
  auto unheld = must(open(Sandbox()));
  EXPECT_THAT(unheld->load(built / "module.so", "").error().what, HasSubstr("exit code 100"));
  unsetenv("HOSTILE_SECRET_KEY");
}

TEST_F(SandboxTest, WithoutNamespacesItsOwnProcCanBeWritten) {
  // As where the namespaces have no /proc of their own: what must write to it has none of them.
  const fs::path launcher = saying(folder, "namespaces\t1\town\t\nprivate /proc\t0\trefused\t\n"
                                           "use\t1\t --namespaces own --landlock\t\n");
  auto other = must(Sandbox::open(*processes, launcher, SandboxMode::Auto));
  const auto wordAfter = [](const ProcessSpec &spec, const std::string &option) {
    const auto found = std::find(spec.argv.begin(), spec.argv.end(), option);
    return found == spec.argv.end() ? "" : *(found + 1);
  };
  policy.unixSockets = true;
  EXPECT_EQ(wordAfter(other.contain(attempt({"fork"}), policy), "--namespaces"), "own");
  policy.writesOwnProc = true;
  ProcessSpec spec = other.contain(attempt({"write", "/proc/self/comm"}), policy);
  EXPECT_EQ(wordAfter(spec, "--namespaces"), "none");
  spec.argv[0] = KOPT_BINARY_DIR "/bin/kopt-sandbox";
  EXPECT_EQ(answer(spec), kGot);
}

TEST_F(SandboxTest, WithoutBubblewrapTheOtherLayersHold) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder.path().c_str(), 1);
  auto other = Sandbox::open(*processes, KOPT_BINARY_DIR "/bin/kopt-sandbox", SandboxMode::Auto);
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(other) << other.error().what;
  EXPECT_FALSE(other->hasNamespaces());
  EXPECT_EQ(other->layers().at(0).name, "namespaces");
  EXPECT_FALSE(other->layers().at(0).active);
  EXPECT_EQ(other->layers().at(0).remedy, "install bubblewrap");
  sandbox = *other;
  const fs::path secret = folder.path() / "key";
  ASSERT_TRUE(writeFileAtomically(secret, "secret"));
  for (const std::vector<std::string> &words : {std::vector<std::string>{"read", secret},
                                                {"write", folder.path() / "new"},
                                                {"write", "/tmp/kopt-new"},
                                                {"inet"},
                                                {"unix"},
                                                {"fork"},
                                                {"mount"},
                                                {"unshare"},
                                                {"signal", std::to_string(getpid())},
                                                {"kill-parent"}})
    EXPECT_EQ(contained(words), kRefused) << words[0];
  EXPECT_EQ(contained({"exists", "/usr/bin"}), kGot);
  // The CUDA driver fails where it may not make a socket; it need not reach anybody.
  policy.unixSockets = true;
  EXPECT_EQ(contained({"unix"}), kGot);
  const fs::path place = folder.path() / "socket";
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = place;
  std::copy(name.begin(), name.end(), address.sun_path);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  policy.readable.push_back(folder.path());
  EXPECT_EQ(contained({"connect", name}), kRefused);
  close(listener);
}

TEST_F(SandboxTest, ABubblewrapThatFailsIsTheSandboxsErrorAndNothingRuns) {
  const fs::path broken = folder.path() / "bwrap";
  ASSERT_TRUE(writeFileAtomically(broken, "#!/bin/sh\necho 'bwrap: cannot do it' >&2\nexit 1\n"));
  fs::permissions(broken, fs::perms::all);
  for (const auto &[bubblewrap, reason] :
       {std::pair{broken, "bwrap: cannot do it"}, std::pair{folder.path() / "absent", "absent"}}) {
    ProcessSpec spec = attempt({"unix"});
    const std::vector<std::string> program = spec.argv;
    spec.argv = {KOPT_BINARY_DIR "/bin/kopt-sandbox", "--namespaces", bubblewrap, "--"};
    spec.argv.insert(spec.argv.end(), program.begin(), program.end());
    const auto result = must(processes->run(spec));
    EXPECT_EQ(result.out, "");
    const auto refusal = Sandbox::refusal(result.exitCode, result.err);
    ASSERT_TRUE(refusal) << result.err;
    EXPECT_THAT(refusal->what, HasSubstr(reason));
  }
}

TEST(SandboxModes, AreThree) {
  EXPECT_EQ(parseEnum<SandboxMode>("auto"), SandboxMode::Auto);
  EXPECT_EQ(parseEnum<SandboxMode>("required"), SandboxMode::Required);
  EXPECT_EQ(parseEnum<SandboxMode>("off"), SandboxMode::Off);
  EXPECT_FALSE(parseEnum<SandboxMode>("on"));
}

TEST(SandboxLayers, MissingOnesAreNamedAndRequiredRefusesThem) {
  const auto processes = makeProcessRunner();
  const auto folder = std::move(*TemporaryDirectory::create("kopt-sandbox"));
  const fs::path launcher = saying(folder, "namespaces\t0\tthe kernel says no\tset the sysctl\n"
                                           "system call filter\t1\tseccomp\t\n"
                                           "use\t1\t --namespaces none --seccomp\t\n");
  const auto sandbox = must(Sandbox::open(*processes, launcher, SandboxMode::Auto));
  EXPECT_FALSE(sandbox.hasNamespaces());
  ASSERT_EQ(sandbox.layers().size(), 2u);
  EXPECT_EQ(sandbox.layers()[0].remedy, "set the sysctl");
  EXPECT_EQ(describeLayers(sandbox.layers()).dump(),
            R"([{"active":false,"detail":"the kernel says no","layer":"namespaces"},)"
            R"({"active":true,"detail":"seccomp","layer":"system call filter"}])");
  EXPECT_THAT(Sandbox::open(*processes, launcher, SandboxMode::Required),
              fails({.code = ErrorCode::Environment,
                     .what = HasSubstr("namespaces (the kernel says no)"),
                     .hint = HasSubstr("set the sysctl")}));
  const auto off = Sandbox::open(*processes, launcher, SandboxMode::Off);
  EXPECT_FALSE(off->active());
  EXPECT_THAT(off->layers().at(0).detail, HasSubstr("off"));
  EXPECT_FALSE(Sandbox::open(*processes, folder.path() / "absent", SandboxMode::Auto));
  EXPECT_FALSE(Sandbox::open(*processes, "/bin/true", SandboxMode::Auto))
      << "no answer is no sandbox";
}

} // namespace
