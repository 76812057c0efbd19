// SPDX-License-Identifier: Apache-2.0
// libkopt-capture.so as the driver loads it, in tests/fakes/cuda/FakeApp.cpp: what the program
// does, what it prints and how it ends stay as they are, and the trace says what it did.
#include "runtime/trace/Contents.h"
#include "runtime/trace/LogReader.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using namespace kopt::runtime::trace;

struct Outcome {
  int status = 0; ///< of waitpid()
  std::string output;
};

class InjectionTest : public ::testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "/tmp/kopt-injection-XXXXXX";
    folder = mkdtemp(pattern);
    fs::create_directory(folder / "trace");
  }
  void TearDown() override { fs::remove_all(folder); }

  void configure(const std::string &more = {}, const std::string &cupti = KOPT_FAKE_CUPTI) {
    std::ofstream(folder / "config") << "trace " << (folder / "trace").string() << "\n"
                                     << (cupti.empty() ? "" : "cupti " + cupti + "\n") << more;
  }
  Outcome run(const std::string &scenes, bool captured, const std::string &environment = {}) {
    std::string command = environment + " LD_LIBRARY_PATH=" KOPT_FAKE_CUDA;
    if (captured)
      command += " CUDA_INJECTION64_PATH=" KOPT_CAPTURE_LIBRARY " KOPT_CAPTURE_CONFIG=" +
                 (folder / "config").string();
    command += " FAKE_APP_CUBIN=" KOPT_SOURCE_DIR "/tests/unit/runtime/capture/captured.cubin";
    command += " " KOPT_FAKE_APP " " + scenes + " 2>&1";
    Outcome result;
    std::FILE *pipe = popen(("exec env " + command).c_str(), "r");
    char text[4096];
    while (const std::size_t got = std::fread(text, 1, sizeof text, pipe))
      result.output.append(text, got);
    result.status = pclose(pipe);
    return result;
  }
  std::vector<ProcessTrace> traces() {
    std::vector<ProcessTrace> all;
    for (const auto &entry : fs::directory_iterator(folder / "trace"))
      if (entry.path().filename().string().starts_with("process-")) {
        std::string why;
        EXPECT_TRUE(readLogFile((entry.path() / kLogFile).string(), all.emplace_back(), why))
            << why;
      }
    return all;
  }
  ProcessTrace traceOf(const std::string &scenes, const std::string &config = {}) {
    configure(config);
    const Outcome without = run(scenes, false), with = run(scenes, true);
    EXPECT_EQ(with.status, without.status);
    EXPECT_EQ(with.output, without.output);
    std::vector<ProcessTrace> all = traces();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? ProcessTrace{} : std::move(all.front());
  }
  static std::map<std::string, int> launchesByKernel(const ProcessTrace &trace) {
    std::map<std::string, int> counts;
    for (const Launch &launch : trace.launches)
      ++counts[trace.functions[launch.function].symbol];
    return counts;
  }
  template <class T> std::vector<T> contents(const SnapshotItem &item) {
    std::string why;
    const auto file =
        ContentsFile::open((folder / "trace" / contentsPath(item.hash)).string(), why);
    EXPECT_TRUE(file) << why;
    std::vector<T> values(item.bytes / sizeof(T));
    if (file)
      EXPECT_TRUE(file->read(0, values.size() * sizeof(T),
                             reinterpret_cast<std::byte *>(values.data()), why))
          << why;
    return values;
  }

  fs::path folder;
};

TEST_F(InjectionTest, AttributesOfALaunchAreToldApart) {
  const ProcessTrace trace = traceOf("attributes");
  ASSERT_EQ(trace.launches.size(), 3u);
  EXPECT_EQ(trace.launches[0].flags, kOtherAttributes);   // a priority
  EXPECT_EQ(trace.launches[1].flags, kCluster);           // a preferred cluster
  EXPECT_EQ(trace.launches[2].flags, kUnknownAttributes); // one of a later CUDA
}

TEST_F(InjectionTest, EveryLaunchWithItsArgumentsAndItsTime) {
  const ProcessTrace trace = traceOf("scale");
  EXPECT_TRUE(trace.ended);
  ASSERT_EQ(trace.launches.size(), 13u);
  EXPECT_EQ(trace.functions[trace.launches[0].function].symbol, "_Z5scalePfPKffi");
  const Launch &first = trace.launches[0], &last = trace.launches[12];
  EXPECT_EQ(first.grid[0], 8u);
  EXPECT_EQ(last.grid[0], 40u);
  EXPECT_EQ(last.ordinal, 12u);
  EXPECT_DOUBLE_EQ(first.seconds, 8000e-9);
  EXPECT_DOUBLE_EQ(last.seconds, 40000e-9);
  ASSERT_EQ(first.arguments.size(), 24u);
  float factor = 0;
  std::int32_t count = 0;
  std::uint64_t out = 0;
  std::memcpy(&out, first.arguments.data(), 8);
  std::memcpy(&factor, first.arguments.data() + 16, 4);
  std::memcpy(&count, first.arguments.data() + 20, 4);
  EXPECT_EQ(factor, 1.5f);
  EXPECT_EQ(count, 1000);
  const Allocation *allocation = trace.allocationAt(out, first.sequence);
  ASSERT_NE(allocation, nullptr);
  EXPECT_EQ(allocation->kind, AllocationKind::Managed);
  EXPECT_EQ(allocation->bytes, 20000u);
  EXPECT_NE(allocation->until, ~std::uint64_t(0)) << "it was freed";
  EXPECT_EQ(trace.info.arguments.at(1), "scale");
  EXPECT_EQ(trace.info.driverVersion, 13000u);
  EXPECT_EQ(trace.info.programHash.size(), 32u);
  EXPECT_EQ(fs::path(trace.info.program), fs::canonical(KOPT_FAKE_APP));
  ASSERT_EQ(trace.contexts.size(), 1u);
  EXPECT_EQ(trace.contexts[0].name, "Fake GPU");
}

TEST_F(InjectionTest, SnapshotsOfTheChosenLaunches) {
  const ProcessTrace trace = traceOf("scale", "snapshot kernel scale launch 1,12\n");
  ASSERT_EQ(trace.snapshots.size(), 2u);
  for (const auto &[sequence, snapshot] : trace.snapshots) {
    const auto launch = std::ranges::find(trace.launches, sequence, &Launch::sequence);
    ASSERT_NE(launch, trace.launches.end());
    EXPECT_TRUE(launch->ordinal == 1 || launch->ordinal == 12);
    ASSERT_EQ(snapshot.before.size(), 3u); // and the variable of the module
    ASSERT_EQ(snapshot.after.size(), 3u);
    const auto in = contents<float>(snapshot.after[1]), out = contents<float>(snapshot.after[0]);
    EXPECT_EQ(snapshot.before[1].hash, snapshot.after[1].hash);
    EXPECT_EQ(snapshot.stackBytes, 1024u);
    const float factor = launch->ordinal == 1 ? 1.5f : 0.75f;
    for (std::size_t i = 0; i < (launch->ordinal == 1 ? 1000u : 5000u); ++i)
      ASSERT_EQ(out[i], factor * in[i]) << i;
  }
}

TEST_F(InjectionTest, PointersInStructsVariablesOfTheModuleAndPerThreadStreams) {
  const ProcessTrace trace = traceOf("weigh", "snapshot symbol _Z5weigh4SpanPKf class 1\n");
  ASSERT_EQ(trace.launches.size(), 3u);
  EXPECT_EQ(trace.launches[0].stream, 2u);
  ASSERT_EQ(trace.snapshots.size(), 1u);
  const Snapshot &snapshot = trace.snapshots.begin()->second;
  ASSERT_EQ(snapshot.before.size(), 3u);
  EXPECT_EQ(snapshot.before[0].kind, AllocationKind::Async);
  EXPECT_EQ(snapshot.before[2].kind, AllocationKind::Symbol);
  EXPECT_EQ(snapshot.before[2].name, "_ZN3app7weightsE");
  EXPECT_EQ(contents<float>(snapshot.before[2]), (std::vector<float>{0.25f, 0.5f, 0.75f, 1}));
}

TEST_F(InjectionTest, KernelsOfLibraries) {
  configure("snapshot kernel weigh first 1\n");
  const Outcome with = run("weigh", true, "FAKE_APP_LIBRARY=1");
  EXPECT_EQ(with.output, run("weigh", false).output);
  const std::vector<ProcessTrace> all = traces();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].launches.size(), 3u);
  ASSERT_EQ(all[0].snapshots.size(), 1u);
  const Snapshot &snapshot = all[0].snapshots.begin()->second;
  ASSERT_EQ(snapshot.before.size(), 3u);
  EXPECT_EQ(contents<float>(snapshot.before[2]), (std::vector<float>{0.25f, 0.5f, 0.75f, 1}));
}

TEST_F(InjectionTest, PointersInBuffersAndOtherKindsOfLaunches) {
  const ProcessTrace trace = traceOf("gather", "snapshot kernel gather first 1\n");
  ASSERT_EQ(trace.launches.size(), 3u);
  EXPECT_EQ(trace.launches[0].flags, 0);
  EXPECT_EQ(trace.launches[1].flags, kCooperative | kCluster);
  EXPECT_EQ(trace.launches[2].flags, kCooperative);
  const Snapshot &snapshot = trace.snapshots.at(trace.launches[0].sequence);
  // out, rows, the cubin's variable, and what the rows point to
  ASSERT_EQ(snapshot.before.size(), 4u);
  EXPECT_EQ(snapshot.before[3].depth, 1);
  const auto rows = contents<std::uint64_t>(snapshot.before[1]);
  for (const std::uint64_t row : rows)
    EXPECT_LT(row - snapshot.before[3].base, snapshot.before[3].bytes);
  EXPECT_NE(snapshot.before[0].hash, snapshot.after[0].hash);
}

TEST_F(InjectionTest, CapturedLaunchesCountWhenTheirGraphIsLaunched) {
  const ProcessTrace trace = traceOf("graph", "snapshot kernel scale first 9\n");
  const auto counts = launchesByKernel(trace);
  EXPECT_EQ(counts.at("_Z5scalePfPKffi"), 4);
  EXPECT_EQ(counts.at("nothing"), 3);
  std::vector<float> factors;
  for (const Launch &launch : trace.launches)
    if (trace.functions[launch.function].symbol != "nothing") {
      float factor = 0;
      ASSERT_EQ(launch.arguments.size(), 24u);
      std::memcpy(&factor, launch.arguments.data() + 16, 4);
      factors.push_back(factor);
      EXPECT_DOUBLE_EQ(launch.seconds, 8000e-9);
      EXPECT_EQ(launch.fromGraph, factors.size() < 4);
    }
  EXPECT_EQ(factors, (std::vector<float>{2, 3, 3, 5}))
      << "the second launch has the node's new parameters";
  EXPECT_EQ(trace.snapshots.size(), 1u) << "of the launch beside the graph";
}

TEST_F(InjectionTest, AllThreads) {
  const ProcessTrace trace = traceOf("threads");
  EXPECT_EQ(trace.launches.size(), 4000u);
  std::set<std::uint32_t> ordinals;
  for (const Launch &launch : trace.launches) {
    ordinals.insert(launch.ordinal);
    ASSERT_GT(launch.seconds, 0);
  }
  EXPECT_EQ(ordinals.size(), 4000u);
}

TEST_F(InjectionTest, ExitCodesAndFailedLaunchesStayTheProgramsOwn) {
  EXPECT_TRUE(traceOf("fails exit 41").launches.empty());
  EXPECT_EQ(WEXITSTATUS(run("exit 41", true).status), 41);
}

TEST_F(InjectionTest, ChildProcessesHaveTracesOfTheirOwn) {
  configure();
  const Outcome with = run("child scale", true);
  EXPECT_EQ(with.output, run("child scale", false).output);
  std::vector<ProcessTrace> all = traces();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[0].info.pid, all[1].info.pid);
  EXPECT_EQ(all[0].launches.size(), 13u);
  EXPECT_EQ(all[1].launches.size(), 13u);
  const bool firstIsChild = all[0].info.parent == all[1].info.pid;
  EXPECT_TRUE(firstIsChild || all[1].info.parent == all[0].info.pid);
}

TEST_F(InjectionTest, AForkedChildThatExitsEndsNothing) {
  const ProcessTrace trace = traceOf("forked scale");
  EXPECT_TRUE(trace.ended);
  EXPECT_EQ(trace.launches.size(), 13u);
  EXPECT_GT(trace.launches[12].seconds, 0);
}

TEST_F(InjectionTest, AKilledProgramLeavesWhatItDidBefore) {
  const ProcessTrace trace = traceOf("scale weigh killed", "snapshot kernel weigh first 1\n");
  EXPECT_FALSE(trace.ended);
  EXPECT_EQ(trace.launches.size(), 16u);
  EXPECT_EQ(trace.snapshots.size(), 1u);
}

TEST_F(InjectionTest, ACapOnSnapshotsIsSaid) {
  const ProcessTrace trace =
      traceOf("scale", "snapshot kernel scale first 9\nmax-snapshot-bytes 60000\n");
  ASSERT_EQ(trace.notes.size(), 1u);
  EXPECT_NE(trace.notes[0].find("limit of 60000 bytes"), std::string::npos);
  EXPECT_TRUE(trace.snapshots.begin()->second.before[0].stored);
}

TEST_F(InjectionTest, AStreamThatIsNeverDoneCostsTheSnapshotOnly) {
  configure("snapshot kernel scale first 1\nwait-seconds 0\n");
  const Outcome with = run("scale", true, "KOPT_FAKE_NEVER_DONE=1");
  EXPECT_EQ(with.output, run("scale", false).output);
  const std::vector<ProcessTrace> all = traces();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].snapshots.empty());
  ASSERT_EQ(all[0].notSnapshotted.size(), 1u);
  EXPECT_NE(all[0].notSnapshotted.begin()->second.find("not done"), std::string::npos);
}

TEST_F(InjectionTest, SizesOfParametersFromTheConfiguration) {
  configure("params _Z5scalePfPKffi 8,8,4,4\nsnapshot kernel scale first 1\n");
  run("scale", true, "KOPT_FAKE_NO_PARAM_INFO=1");
  const std::vector<ProcessTrace> all = traces();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].snapshots.size(), 1u);
  EXPECT_EQ(all[0].launches.at(0).arguments.size(), 24u);
}

TEST_F(InjectionTest, WithoutCuptiTheProgramRunsAndTheTraceSaysWhy) {
  // Found by no path: the machine may have a real CUPTI, which does not know the fake driver.
  configure("", (folder / "nowhere.so").string());
  const Outcome with = run("scale", true, "CUDA_HOME=/nowhere CUDA_PATH=/nowhere");
  EXPECT_EQ(with.output, run("scale", false).output);
  const std::vector<ProcessTrace> all = traces();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].launches.empty());
  ASSERT_FALSE(all[0].notes.empty());
  EXPECT_TRUE(all[0].notes[0].starts_with("error: ")) << all[0].notes[0];
}

TEST_F(InjectionTest, ABrokenOrMissingConfigurationDisturbsNothing) {
  const std::string expected = run("scale", false).output;
  EXPECT_EQ(run("scale", true).output, expected); // no file
  std::ofstream(folder / "config") << "nonsense\n";
  EXPECT_EQ(run("scale", true).output, expected);
  std::ofstream(folder / "config") << "trace /nowhere/at/all\n";
  EXPECT_EQ(run("scale", true).output, expected);
  EXPECT_TRUE(traces().empty());
}

/// The hook's own cost, beside what a launch of the fake driver costs. The bound is far above what
/// is measured: it catches a lock or an allocation on the way, not a slow machine.
TEST_F(InjectionTest, ALaunchCostsLittle) {
  configure("timing 0\n");
  const auto nanoseconds = [&](bool captured) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const std::string output = run("many 100000", captured).output;
      const std::size_t at = output.find("ns-per-launch ");
      EXPECT_NE(at, std::string::npos) << output;
      best = std::min(best, std::atof(output.c_str() + at + 14));
    }
    return best;
  };
  const double without = nanoseconds(false), with = nanoseconds(true);
  RecordProperty("nanoseconds_per_launch", std::to_string(with - without));
  std::printf("a launch: %.0f ns without, %.0f ns with the capture library\n", without, with);
  EXPECT_LT(with - without, 3000);
}

} // namespace
