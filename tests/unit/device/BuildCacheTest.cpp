// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/BuildCache.h"
#include "driver/device/build/Toolchains.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

using namespace kopt;

namespace {

namespace fs = std::filesystem;

/// Builds what a test says, from headers that a test names.
class FakeCompiler final : public Toolchain {
public:
  ToolchainKind kind() const override { return ToolchainKind::Emulated; }
  std::string name() const override { return "fake 1"; }
  std::vector<fs::path> programs() const override { return {program}; }
  Result<BuildOutcome> build(const BuildRequest &request) override {
    ++builds;
    if (whileItBuilds)
      whileItBuilds();
    if (noSpace)
      return makeError(ErrorCode::Environment, "the disk is full");
    BuildOutcome outcome{log.empty(), fault, {}, log, "a hash", {"malloc"}, reads};
    if (!outcome.ok)
      return outcome;
    outcome.module = request.output.string() + ".so";
    // Not UTF-8, as modules are.
    KOPT_CHECK(writeFileAtomically(outcome.module, "\xff\n\n" + request.sliceText));
    return outcome;
  }

  fs::path program;
  std::optional<std::vector<std::string>> reads{std::in_place};
  std::string log;
  BuildFault fault = BuildFault::Source;
  bool noSpace = false;
  std::function<void()> whileItBuilds;
  std::atomic<int> builds = 0;
};

class BuildCacheTest : public testing::Test {
protected:
  BuildCacheTest() {
    compiler_.program = write("bin/compiler", "1");
    write("user/a.h", "a");
    fs::create_directories(folder_.path() / "first");
    compiler_.reads = {"a.h"};
    settle();
  }
  void TearDown() override {
    for (const char *name : {"CPATH", "NVCC_APPEND_FLAGS"})
      unsetenv(name);
  }
  fs::path write(const std::string &name, const std::string &text) {
    EXPECT_TRUE(writeFileAtomically(folder_.path() / name, text));
    return folder_.path() / name;
  }
  /// Waits until files are older than a build that begins now.
  static void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(40)); }

  BuildRequest request(const std::string &text = "text") {
    BuildRequest made;
    made.sliceText = text;
    made.directory = (folder_.path() / "user").string();
    made.flags = {"-I", "../first", "-DN=4"};
    made.output = folder_.path() / std::to_string(++outputs_) / "module";
    fs::create_directories(made.output.parent_path());
    return made;
  }
  /// Builds with a cache of its own, as another run of kopt does. Returns how often it compiled.
  int build(const BuildRequest &made) {
    const int before = compiler_.builds;
    BuildCache cache(cache_, limit_);
    last_ = must(cache.build(compiler_, made));
    const auto [compiled, taken] = cache.counts();
    EXPECT_EQ(compiled + taken, 1u);
    EXPECT_EQ(int(compiled), compiler_.builds - before);
    return int(compiled);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(cache_))
      found.push_back(entry.path());
    return found;
  }

  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("cache"));
  fs::path cache_ = folder_.path() / "builds";
  std::uintmax_t limit_ = 1 << 20;
  FakeCompiler compiler_;
  BuildOutcome last_;
  int outputs_ = 0;
};

TEST_F(BuildCacheTest, ALaterRunTakesTheModuleWithAllThatIsKnownOfIt) {
  EXPECT_EQ(build(request()), 1);
  const BuildRequest again = request();
  EXPECT_EQ(build(again), 0);
  EXPECT_TRUE(last_.ok);
  EXPECT_EQ(last_.module, again.output.string() + ".so");
  EXPECT_EQ(*readFile(last_.module), "\xff\n\ntext");
  EXPECT_EQ(last_.hash, "a hash");
  EXPECT_EQ(last_.externals, std::vector<std::string>{"malloc"});
}

TEST_F(BuildCacheTest, WhatDecidesTheCodeMakesAnotherBuild) {
  build(request());
  BuildRequest other = request();
  for (const auto &change : std::initializer_list<void (*)(BuildRequest &)>{
           [](BuildRequest &r) { r.sliceText = "another"; },
           [](BuildRequest &r) { r.expression = "f<2>"; },
           [](BuildRequest &r) { r.symbol = "_Z1fv"; }, [](BuildRequest &r) { r.arch = "sm_90"; },
           [](BuildRequest &r) { std::swap(r.flags[1], r.flags[2]); },
           [](BuildRequest &r) { r.rounding = Rounding::Up; },
           [](BuildRequest &r) { r.unoptimized = true; },
           [](BuildRequest &r) { r.directory += "/"; }}) {
    change(other);
    EXPECT_EQ(build(other), 1);
    EXPECT_EQ(build(other), 0);
  }
}

TEST_F(BuildCacheTest, AChangedHeaderMakesAnotherBuildAndANewTimeDoesNot) {
  build(request());
  fs::last_write_time(folder_.path() / "user/a.h", fs::file_time_type::clock::now());
  EXPECT_EQ(build(request()), 0);
  write("user/a.h", "b");
  settle();
  EXPECT_EQ(build(request()), 1);
  EXPECT_EQ(build(request()), 0);
  fs::remove(folder_.path() / "user/a.h");
  EXPECT_EQ(build(request()), 1);
}

TEST_F(BuildCacheTest, AHeaderThatIsFoundEarlierMakesAnotherBuild) {
  write("user/sub/b.h", "b");
  compiler_.reads = {"a.h", folder_.path() / "user/sub/b.h"};
  settle();
  build(request());
  write("first/other.h", "a");
  EXPECT_EQ(build(request()), 0);
  for (const char *name : {"first/a.h", "first/sub/b.h", "user/b.h"}) {
    write(name, "shadows");
    settle();
    EXPECT_EQ(build(request()), 1) << name;
    EXPECT_EQ(build(request()), 0) << name;
  }
  setenv("CPATH", (folder_.path() / "later").c_str(), 1);
  EXPECT_EQ(build(request()), 1);
  write("later/a.h", "a");
  EXPECT_EQ(build(request()), 1);
}

TEST_F(BuildCacheTest, WhatATextAsksForMakesAnotherBuildOnceItIsThere) {
  write("user/a.h", "#if __has_include(<fast/math.h>)\n#endif\n");
  settle();
  build(request());
  write("first/fast/other.h", "");
  EXPECT_EQ(build(request()), 0);
  write("first/fast/math.h", "");
  EXPECT_EQ(build(request()), 1);
}

TEST_F(BuildCacheTest, ATextWithTheTimeIsBuiltEachTime) {
  EXPECT_EQ(build(request("__TIME__")), 1);
  EXPECT_EQ(build(request("__TIME__")), 1);
  write("user/a.h", "__DATE__");
  settle();
  EXPECT_EQ(build(request()), 1);
  EXPECT_EQ(build(request()), 1);
  EXPECT_TRUE(entries().empty());
}

TEST_F(BuildCacheTest, AnotherEnvironmentOrCompilerMakesAnotherBuild) {
  build(request());
  setenv("NVCC_APPEND_FLAGS", "-G", 1);
  EXPECT_EQ(build(request()), 1);
  unsetenv("NVCC_APPEND_FLAGS");
  EXPECT_EQ(build(request()), 0);
  // The same size at the same path, and the same time.
  const auto time = fs::last_write_time(compiler_.program);
  write("bin/compiler", "2");
  fs::last_write_time(compiler_.program, time);
  EXPECT_EQ(build(request()), 1);
}

TEST_F(BuildCacheTest, AFileThatAFlagNamesCounts) {
  const fs::path options = write("options", "-O3");
  settle();
  BuildRequest with = request();
  with.flags.push_back("--pre-include=" + options.string());
  EXPECT_EQ(build(with), 1);
  EXPECT_EQ(build(with), 0);
  write("options", "-O1");
  EXPECT_EQ(build(with), 1);
}

TEST_F(BuildCacheTest, ADamagedEntryIsBuiltAgainAndReplaced) {
  build(request());
  ASSERT_EQ(entries().size(), 1u);
  const fs::path entry = entries().front();
  const std::string whole = *readFile(entry);
  std::string changed = whole;
  changed.back() ^= 1;
  for (const std::string &damaged : {std::string(), whole.substr(0, 20), whole.substr(0, 40),
                                     whole.substr(0, whole.size() - 1), changed, "x" + whole}) {
    ASSERT_TRUE(writeFileAtomically(entry, damaged));
    EXPECT_EQ(build(request()), 1);
    EXPECT_EQ(*readFile(last_.module), "\xff\n\ntext");
    EXPECT_EQ(*readFile(entry), whole);
    EXPECT_EQ(build(request()), 0);
  }
}

TEST_F(BuildCacheTest, OnlyFailuresOfTheTextAreKept) {
  for (const char *log : {"slice.cu(3): error: expected a ;\n", "slice.cu:3:1: error: no\n",
                          "ptxas error   : Entry function 'f' uses too much shared data\n"}) {
    compiler_.log = log;
    EXPECT_EQ(build(request(log)), 1);
    EXPECT_EQ(build(request(log)), 0);
    EXPECT_FALSE(last_.ok);
    EXPECT_EQ(last_.log, log);
  }
  compiler_.fault = BuildFault::Device;
  build(request("limit"));
  EXPECT_EQ(build(request("limit")), 0);
  EXPECT_EQ(last_.fault, BuildFault::Device);
  compiler_.fault = BuildFault::Compiler; // it crashed
  build(request("crash"));
  EXPECT_EQ(build(request("crash")), 1);
  compiler_.fault = BuildFault::Source;
  for (const char *log : {"Killed\n", "ptxas fatal   : Memory allocation failure\n",
                          "x.h: fatal error: cannot write: No space left on device\n"}) {
    compiler_.log = log;
    EXPECT_EQ(build(request(log)), 1);
    EXPECT_EQ(build(request(log)), 1);
  }
  compiler_.log = "slice.cu(3): error: no\n";
  compiler_.reads.reset(); // as after a time limit
  build(request("late"));
  EXPECT_EQ(build(request("late")), 1);
  compiler_.noSpace = true;
  BuildCache cache(cache_, limit_);
  EXPECT_FALSE(cache.build(compiler_, request("full")));
  compiler_.noSpace = false;
  EXPECT_EQ(build(request("full")), 1);
}

TEST_F(BuildCacheTest, AHeaderThatChangesDuringABuildIsNotTakenForWhatWasRead) {
  compiler_.whileItBuilds = [this] { write("user/a.h", "newer"); };
  build(request());
  compiler_.whileItBuilds = nullptr;
  settle();
  EXPECT_EQ(build(request()), 1);
}

TEST_F(BuildCacheTest, TheLeastRecentlyUsedGoFirst) {
  const std::string big(10'000, 'x');
  limit_ = 35'000;
  for (const char *name : {"1", "2", "3"})
    EXPECT_EQ(build(request(name + big)), 1);
  settle();
  EXPECT_EQ(build(request("1" + big)), 0);
  settle();
  EXPECT_EQ(build(request("4" + big)), 1);
  EXPECT_LE(trimBuilds(cache_).bytes, limit_);
  EXPECT_EQ(trimBuilds(cache_).files, 3u);
  EXPECT_EQ(build(request("1" + big)), 0);
  EXPECT_EQ(build(request("2" + big)), 1);
  EXPECT_EQ(trimBuilds(cache_, 0).files, 0u);
  EXPECT_TRUE(entries().empty());
}

TEST_F(BuildCacheTest, WithoutALimitOrAFolderOfItsOwnNothingIsKept) {
  limit_ = 0;
  EXPECT_EQ(build(request()), 1);
  EXPECT_EQ(build(request()), 1);
  EXPECT_FALSE(fs::exists(cache_));
  limit_ = 1 << 20;
  write("file", "");
  cache_ = folder_.path() / "file/builds";
  EXPECT_EQ(build(request()), 1);
  EXPECT_EQ(build(request()), 1);
  cache_ = folder_.path() / "everyones";
  fs::create_directories(cache_);
  fs::permissions(cache_, fs::perms::all);
  EXPECT_EQ(build(request()), 1);
  EXPECT_EQ(build(request()), 1);
}

TEST_F(BuildCacheTest, TheRealNvccSaysWhatItRead) {
  const auto processes = makeProcessRunner();
  const auto nvcc = makeNvccToolchain(*processes, CudaToolkit::find());
  if (!nvcc)
    GTEST_SKIP() << nvcc.error().what;
  write("user/n.h", "#define N 2\n");
  settle();
  BuildCache cache(cache_, 1 << 20);
  const auto made = [&](const std::string &text) {
    BuildRequest real = request(text);
    real.symbol = "_Z5scalePf";
    real.arch = "sm_90";
    real.flags = {"-I", "../first", "-I."};
    const unsigned before = cache.counts().compiled;
    last_ = must(cache.build(**nvcc, real));
    return cache.counts().compiled > before;
  };
  const std::string text =
      "#include <n.h>\n__global__ void scale(float *x) { x[threadIdx.x] *= N; }\n";
  EXPECT_TRUE(made(text));
  ASSERT_TRUE(last_.ok) << last_.log;
  const std::string hash = last_.hash;
  EXPECT_FALSE(made(text));
  EXPECT_TRUE(last_.ok);
  EXPECT_EQ(last_.hash, hash);
  write("first/n.h", "#define N 3\n");
  settle();
  EXPECT_TRUE(made(text));
  EXPECT_NE(last_.hash, hash);
  EXPECT_FALSE(made(text));
  EXPECT_TRUE(made("#include <n.h>\n__global__ void scale(float *x) { y; }\n"));
  EXPECT_FALSE(made("#include <n.h>\n__global__ void scale(float *x) { y; }\n"));
  EXPECT_FALSE(last_.ok);
  EXPECT_TRUE(made("#include <missing.h>\n"));
  EXPECT_TRUE(made("#include <missing.h>\n"));
}

TEST_F(BuildCacheTest, SeveralProcessesAtOnce) {
  std::vector<BuildRequest> requests;
  for (int i = 0; i < 64; ++i)
    requests.push_back(request("text " + std::to_string(i % 8)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      BuildCache cache(cache_, 3'000); // so that entries are removed meanwhile
      for (int i = t; i < 64; i += 4) {
        const BuildOutcome outcome = must(cache.build(compiler_, requests[i]));
        EXPECT_EQ(*readFile(outcome.module), "\xff\n\n" + requests[i].sliceText);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_LE(trimBuilds(cache_).bytes, 3'000u);
}

} // namespace
