// SPDX-License-Identifier: Apache-2.0
// Whether the counters that kopt reads in process are those of Nsight Compute, on a GPU. Usage:
// counters_truth PATH/TO/kopt-runner [--processes N] [--repeats N] [--check] [--values].
//
// Twenty kernels of different habits, each counted through CUPTI (CounterProcess, warm) and by ncu,
// in turn, each in as many processes and as often in each, with the same inputs and clocks left
// alone. Times, clocks, caches and, from process to process, where memory lies are not the same
// twice, so the range of ncu's own values is what kopt's median is held against: its difference is
// its distance from that range, relative to ncu's value. ncu prints two decimals: what that may
// have rounded away is no difference. Bytes written to device memory are relative to all DRAM
// traffic: the rules add them to what was read, and a kernel that writes little shows what others
// left.
//
// Prints Markdown: per metric the largest difference, per kernel the largest and the seconds it
// took, the process that counts being there; with --values every value that is more than 2% apart.
// With --check the exit status is 1 where a metric that the rules read and ncu gives is missing or
// differs by more than 2%, or a kernel took a second or more. Where ncu's own values of one kernel
// lie more than 2% apart nothing can be within 2% of them: such a value is printed, and counted as
// unsteady where it differs.
//
// ncu's process gives each thread more local memory than the same program has alone (528 bytes with
// CUDA 13.0), and how the stacks of all threads lie beside each other decides what of them stays in
// L1. So many bytes are looked for first, by the hit rates of one kernel at several stack limits,
// and the kernel that keeps an array there is counted with as many: see LocalMemory. The limit of
// occupancy by shared memory is not held against ncu's: that is of the carve-out that the driver
// chose, kopt's of the largest there is. 77: there is no GPU, no nvcc, no ncu, or counters are
// denied.
#include "driver/device/Toolchain.h"
#include "driver/device/build/Toolchains.h"
#include "driver/device/profile/CounterNames.h"
#include "driver/device/profile/NcuProfiler.h"
#include "driver/device/runner/CounterProcess.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/device/runner/RunnerSandbox.h"
#include "driver/device/runner/ToLaunchSpec.h"
#include "driver/judge/Statistics.h"
#include "driver/model/Diagnosis.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"
#include "tests/fakes/KnowledgeMetrics.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace {

using namespace kopt;
namespace fs = std::filesystem;
using runtime::protocol::Message;

constexpr int kSkip = 77;
constexpr double kTolerance = 0.02, kMaxSeconds = 1;

constexpr const char *kKernels = R"(
#define KERNEL extern "C" __global__ void
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
KERNEL copy(const float *in, float *out, unsigned n) { unsigned i = INDEX; if (i < n) out[i] = in[i]; }
KERNEL copy_vector(const float *in, float *out, unsigned n) {
  unsigned i = INDEX; if (i < n / 4) ((float4 *)out)[i] = ((const float4 *)in)[i]; }
KERNEL strided(const float *in, float *out, unsigned n) { unsigned i = INDEX; if (i < n) out[i] = in[(i * 33u) & (n - 1)]; }
KERNEL scatter(const float *in, float *out, unsigned n) { unsigned i = INDEX; if (i < n) out[(i * 129u) & (n - 1)] = in[i]; }
KERNEL gather(const float *in, float *out, unsigned n) {
  unsigned i = INDEX; if (i < n) out[i] = in[(i * 2654435761u >> 7) & (n - 1)]; }
KERNEL transpose(const float *in, float *out, unsigned n) {
  unsigned x = INDEX & 2047, y = INDEX >> 11; if (y < n >> 11) out[x * (n >> 11) + y] = in[y * 2048 + x]; }
KERNEL transpose_conflicts(const float *in, float *out, unsigned n) {
  __shared__ float tile[32][32];
  unsigned bx = blockIdx.x & 63, by = blockIdx.x >> 6, x = threadIdx.x & 31, y = threadIdx.x >> 5;
  for (unsigned k = 0; k < 32; k += 8) tile[y + k][x] = in[(by * 32 + y + k) * 2048 + bx * 32 + x];
  __syncthreads();
  for (unsigned k = 0; k < 32; k += 8) out[(bx * 32 + y + k) * (n >> 11) + by * 32 + x] = tile[x][y + k];
}
KERNEL transpose_padded(const float *in, float *out, unsigned n) {
  __shared__ float tile[32][33];
  unsigned bx = blockIdx.x & 63, by = blockIdx.x >> 6, x = threadIdx.x & 31, y = threadIdx.x >> 5;
  for (unsigned k = 0; k < 32; k += 8) tile[y + k][x] = in[(by * 32 + y + k) * 2048 + bx * 32 + x];
  __syncthreads();
  for (unsigned k = 0; k < 32; k += 8) out[(bx * 32 + y + k) * (n >> 11) + by * 32 + x] = tile[x][y + k];
}
KERNEL reduce(const float *in, float *out, unsigned n) {
  __shared__ float part[256];
  float sum = 0;
  for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned s = 128; s; s >>= 1) { if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s]; __syncthreads(); }
  if (threadIdx.x == 0) atomicAdd(out, part[0]);
}
KERNEL histogram_global(const float *in, float *out, unsigned n) {
  unsigned i = INDEX; if (i < n) atomicAdd((int *)out + (__float_as_int(in[i]) & 4095), 1); }
KERNEL histogram_shared(const float *in, float *out, unsigned n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = INDEX; i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + (__float_as_int(in[i]) & 255), 1);
  __syncthreads();
  atomicAdd((int *)out + threadIdx.x, bins[threadIdx.x]);
}
KERNEL product(const float *in, float *out, unsigned n) {
  unsigned row = INDEX >> 10, column = INDEX & 1023;
  float sum = 0;
  for (unsigned k = 0; k < 1024; ++k) sum += in[row * 1024 + k] * in[k * 1024 + column];
  out[row * 1024 + column] = sum;
}
KERNEL product_tiled(const float *in, float *out, unsigned n) {
  __shared__ float a[16][16], b[16][16];
  unsigned x = threadIdx.x & 15, y = threadIdx.x >> 4, column = (blockIdx.x & 63) * 16 + x, row = (blockIdx.x >> 6) * 16 + y;
  float sum = 0;
  for (unsigned t = 0; t < 1024; t += 16) {
    a[y][x] = in[row * 1024 + t + x];
    b[y][x] = in[(t + y) * 1024 + column];
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  out[row * 1024 + column] = sum;
}
KERNEL stencil(const float *in, float *out, unsigned n) {
  unsigned i = INDEX;
  if (i >= 2048 && i < n - 2048) out[i] = in[i] + 0.25f * (in[i - 1] + in[i + 1] + in[i - 2048] + in[i + 2048]);
}
KERNEL doubles(const float *in, float *out, unsigned n) {
  unsigned i = INDEX; double x = in[i]; for (int k = 0; k < 64; ++k) x = x * x * 0.3 + 0.1; out[i] = x; }
KERNEL special(const float *in, float *out, unsigned n) {
  unsigned i = INDEX; float x = in[i]; for (int k = 0; k < 64; ++k) x = __sinf(x) + __expf(-x * x); out[i] = x; }
KERNEL divergent(const float *in, float *out, unsigned n) {
  unsigned i = INDEX; float x = in[i];
  for (unsigned k = 0; k < (threadIdx.x & 31) * 8; ++k) x = x * 0.99f + 0.01f;
  out[i] = x;
}
#define LOCAL(name, count) KERNEL name(const float *in, float *out, unsigned n) { \
  unsigned i = INDEX; float a[count]; \
  for (unsigned k = 0; k < count; ++k) a[k] = in[(i + k) & (n - 1)]; \
  float x = 0; \
  for (unsigned k = 0; k < 64; ++k) x += a[(k * 7 + __float_as_int(x)) & (count - 1)]; \
  out[i] = x; \
}
LOCAL(local, 8)
LOCAL(stacks, 16)
KERNEL barriers(const float *in, float *out, unsigned n) {
  __shared__ float tile[256];
  unsigned i = INDEX; float x = in[i];
  for (unsigned k = 0; k < 200; ++k) {
    tile[threadIdx.x] = x; __syncthreads(); x = 0.5f * (x + tile[threadIdx.x ^ 32]); __syncthreads(); }
  out[i] = x;
}
KERNEL rows(const float *in, float *out, unsigned n) {
  unsigned row = INDEX >> 5, lane = threadIdx.x & 31; float sum = 0;
  for (unsigned k = lane; k < 2048; k += 32) sum += in[row * 2048 + k];
  for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(~0u, sum, s);
  if (lane == 0) out[row] = sum;
}
)";

struct Kernel {
  const char *name;
  std::uint32_t blocks;   ///< of 256 threads
  std::uint32_t elements; ///< of each buffer, four bytes each, and the kernel's n
};

// What ncu leaves in L2 and a kernel then drives out, about 1 MB, is below 1% of the traffic of
// kMany and kSome elements.
constexpr std::uint32_t kMany = 1u << 26, kSome = 1u << 24, kFew = 1u << 20;
constexpr Kernel kAll[] = {
    {"copy", kMany / 256, kMany},
    {"copy_vector", kMany / 1024, kMany},
    {"strided", kMany / 256, kMany},
    {"scatter", kMany / 256, kMany},
    {"gather", kMany / 256, kMany},
    {"transpose", kMany / 256, kMany},
    {"transpose_conflicts", kMany / 1024, kMany},
    {"transpose_padded", kMany / 1024, kMany},
    {"reduce", 1056, kMany},
    {"histogram_global", kMany / 256, kMany},
    {"histogram_shared", 1056, kMany},
    {"product", kFew / 256, kFew},
    {"product_tiled", kFew / 256, kFew},
    {"stencil", kMany / 256, kMany},
    {"doubles", kMany / 256, kMany},
    {"special", kSome / 256, kSome},
    {"divergent", kMany / 256, kMany},
    {"local", kSome / 256, kSome},
    {"barriers", kSome / 256, kSome},
    {"rows", kMany / 2048 / 8, kMany},
};

/// What LocalMemory is found by. Not compared: its 17 MiB of all resident threads nearly fill an
/// L2, and its DRAM writes lie more than 2% apart in ncu itself.
constexpr Kernel kStacks[] = {{"stacks", kSome / 256, kSome}};

Launch launchOf(const Kernel &kernel, std::uint32_t stackBytes = 0) {
  Launch made;
  made.stackBytes = stackBytes;
  made.name = kernel.name;
  made.grid = {kernel.blocks, 1, 1};
  made.block = {256, 1, 1};
  made.buffers = {Buffer{"in", 4ull * kernel.elements, "f32", {}, true, false},
                  Buffer{"out", 4ull * kernel.elements, "f32", {}, false, false}};
  made.arguments = {BufferArg{0, 0}, BufferArg{1, 0},
                    ValueArg{std::string(reinterpret_cast<const char *>(&kernel.elements), 4)}};
  return made;
}

std::vector<std::string> allCounters() {
  std::vector<std::string> all = hardwareCounters();
  all.insert(all.end(), launchCounters().begin(), launchCounters().end());
  return all;
}

/// What one way of counting gave for a kernel, repeat by repeat.
using Repeats = std::vector<Counters>;

std::vector<double> valuesOf(const Repeats &repeats, const std::string &metric) {
  std::vector<double> values;
  for (const Counters &counters : repeats)
    if (const auto found = counters.find(metric); found != counters.end())
      values.push_back(found->second);
  return values;
}

struct Difference {
  double share = 0; ///< of ncu's value
  double own = 0, least = 0, most = 0;
};

/// Nothing where ncu has no such metric on this chip.
std::optional<Difference> differenceOf(const std::string &metric, const Repeats &ours,
                                       const Repeats &theirs) {
  const std::vector<double> values = valuesOf(ours, metric), reference = valuesOf(theirs, metric);
  if (reference.empty() || values.empty())
    return std::nullopt;
  const auto [least, most] = std::minmax_element(reference.begin(), reference.end());
  Difference made{0, median(values), *least, *most};
  const bool isCount = metric.ends_with(".sum");
  const double rounded = isCount ? 0 : 0.005; // ncu's two decimals
  const double apart = std::max({0.0, made.own - *most - rounded, *least - made.own - rounded});
  double whole = std::abs(median(reference));
  if (metric == "dram__bytes_write.sum")
    whole += median(valuesOf(theirs, "dram__bytes_read.sum"));
  made.share = apart == 0 ? 0 : apart / std::max(whole, isCount ? 1 : rounded);
  return made;
}

/// What every way of counting needs.
struct Setting {
  ProcessRunner &processes;
  fs::path ncu;
  std::vector<std::string> runner; ///< command line of kopt-runner, for the GPU
  fs::path cubin, folder;
};

/// A script for kopt-runner: first the modules are loaded, one for each kernel, then a request for
/// each launch.
class Script {
public:
  Script(const fs::path &cubin, std::span<const Kernel> kernels) : kernels_(kernels) {
    for (const Kernel &kernel : kernels) {
      Message load("load");
      load.add("path", cubin.string());
      load.add("symbol", kernel.name);
      text_ += load.format() + "\n";
    }
  }
  void add(const char *verb, const Kernel &kernel, const Launch &launch,
           const std::vector<std::string> &metrics = {}) {
    Message request(verb);
    addLaunch(request, "a.", toLaunchSpec(std::uint32_t(&kernel - kernels_.data()) + 1, launch));
    request.add("input_seed", std::uint64_t(1));
    request.add("poison_seed", std::uint64_t(1));
    if (!metrics.empty())
      request.addList("metrics", metrics);
    text_ += request.format() + "\n";
    ++requests_;
  }
  int requests() const { return requests_; }

  /// `before` is what the runner runs under. The process's output, and its replies to the requests
  /// in order.
  struct Done {
    std::string out;
    std::vector<Message> replies;
  };
  Result<Done> run(const Setting &setting, std::vector<std::string> before) const {
    const fs::path script = setting.folder / "requests", replies = setting.folder / "replies";
    KOPT_CHECK(writeFileAtomically(script, text_));
    ProcessSpec spec;
    spec.argv = std::move(before);
    spec.argv.insert(spec.argv.end(), setting.runner.begin(), setting.runner.end());
    spec.argv.insert(spec.argv.end(), {"--script", script.string(), "--replies", replies.string()});
    spec.timeout = Duration(300);
    KOPT_TRY(const ProcessResult result, setting.processes.run(spec));
    KOPT_TRY(const std::string text, readFile(replies));
    Done done{result.out, {}};
    std::size_t seen = 0;
    for (const std::string &line : split(text, '\n'))
      if (const auto reply = Message::parse(line); reply && ++seen > kernels_.size())
        done.replies.push_back(*reply);
    if (done.replies.size() != std::size_t(requests_))
      return makeError(ErrorCode::Internal,
                       fmt::format("{} of {} requests were answered: {}{}", done.replies.size(),
                                   requests_, result.out, result.err));
    return done;
  }

private:
  std::span<const Kernel> kernels_;
  std::string text_;
  int requests_ = 0;
};

/// All kernels, each so often, under one ncu.
Result<std::map<std::string, Repeats>> countWithNcu(const Setting &setting, int repeats) {
  Script script(setting.cubin, kAll);
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (const Kernel &kernel : kAll)
      script.add("run", kernel, launchOf(kernel));
  KOPT_TRY(const Script::Done done,
           script.run(setting, ncuCommand(setting.ncu, allCounters(), script.requests())));
  KOPT_TRY(const std::vector<NcuKernel> kernels, parseNcuCsv(done.out));
  std::map<std::string, Repeats> counted;
  for (const NcuKernel &kernel : kernels)
    counted[kernel.name.substr(0, kernel.name.find('('))].push_back(kernel.counters);
  return counted;
}

/// How many bytes of local memory each thread has under ncu beyond what it has alone: with so many
/// more the L1 hit rate is the same at every stack limit, with any other number at none.
struct LocalMemory {
  std::uint32_t more = 0;
  double apart = 0, nextApart = 0; ///< percentage points of the hit rate at the mean: with so many,
                                   ///< with the next best number
  double alone = 0, underNcu = 0;  ///< hit rate at the default limit
  std::uint32_t limit = 0;         ///< the default
  bool isClear() const { return 3 * apart < nextApart; }
};

Result<LocalMemory> findLocalMemory(const Setting &setting) {
  const Kernel &kernel = kStacks[0];
  constexpr const char *kHits = "l1tex__t_sector_hit_rate.pct";
  constexpr std::uint32_t kFirst = 512, kLast = 1216, kEach = 64, kStep = 16, kMost = 1024;
  Script under(setting.cubin, kStacks), alone(setting.cubin, kStacks);
  under.add("run", kernel, launchOf(kernel));
  for (std::uint32_t bytes = kFirst; bytes <= kLast; bytes += kEach)
    under.add("run", kernel, launchOf(kernel, bytes));
  alone.add("profile", kernel, launchOf(kernel), {kHits});
  for (std::uint32_t bytes = kFirst; bytes <= kLast + kMost; bytes += kStep)
    alone.add("profile", kernel, launchOf(kernel, bytes), {kHits});
  KOPT_TRY(const Script::Done counted,
           under.run(setting, ncuCommand(setting.ncu, {kHits}, under.requests())));
  KOPT_TRY(const std::vector<NcuKernel> kernels, parseNcuCsv(counted.out));
  KOPT_TRY(const Script::Done replied, alone.run(setting, {}));
  std::vector<double> theirs, ours;
  for (const NcuKernel &one : kernels)
    if (const auto found = one.counters.find(kHits); found != one.counters.end())
      theirs.push_back(found->second);
  for (const Message &reply : replied.replies)
    if (const Counters counters = countersOf(reply); counters.contains(kHits))
      ours.push_back(counters.at(kHits));
  if (int(theirs.size()) != under.requests() || int(ours.size()) != alone.requests())
    return makeError(ErrorCode::Internal,
                     fmt::format("{} of {} hit rates from ncu, {} of {} from CUPTI", theirs.size(),
                                 under.requests(), ours.size(), alone.requests()));
  LocalMemory found{0,         1e9,
                    1e9,       ours[0],
                    theirs[0], std::uint32_t(countersOf(replied.replies[0])["launch__stack_size"])};
  for (std::uint32_t more = 0; more <= kMost; more += kStep) {
    double apart = 0;
    for (std::size_t i = 1; i < theirs.size(); ++i)
      apart += std::abs(theirs[i] - ours[1 + ((i - 1) * kEach + more) / kStep]) /
               double(theirs.size() - 1);
    if (apart < found.apart) {
      found.nextApart = found.apart;
      found.apart = apart;
      found.more = more;
    } else
      found.nextApart = std::min(found.nextApart, apart);
  }
  return found;
}

struct Counted {
  std::map<std::string, Repeats> cupti, ncu;
  std::map<std::string, std::vector<double>> seconds; ///< of a repeat through CUPTI, by kernel
};

/// Not one number: kopt's is of the largest carve-out, ncu's of the one that the driver chose for
/// the launch.
constexpr std::string_view kOfCarveOut = "launch__occupancy_limit_shared_mem";

/// Prints the tables. True where everything is within the limits.
bool compare(const Counted &counted, const std::vector<std::string> &rules, bool values) {
  std::map<std::string, std::pair<double, std::string>> byMetric; ///< largest difference, and whose
  std::string apart;
  int compared = 0, within = 0, held = 0, beyond = 0, unsteady = 0, missing = 0;
  double longest = 0;
  fmt::print("| kernel | time | largest difference of a rule's metric | of | first count | each "
             "more |\n|---|---|---|---|---|---|\n");
  for (const Kernel &kernel : kAll) {
    const Repeats &ours = counted.cupti.at(kernel.name), &theirs = counted.ncu.at(kernel.name);
    std::pair<double, std::string> worst;
    for (const std::string &metric : allCounters()) {
      const bool isRules =
          std::binary_search(rules.begin(), rules.end(), metric) && metric != kOfCarveOut;
      const auto difference = differenceOf(metric, ours, theirs);
      if (!difference) {
        if (isRules && !valuesOf(theirs, metric).empty()) {
          ++missing;
          apart += fmt::format("missing: {} of {}\n", metric, kernel.name);
        }
        continue;
      }
      const bool isWithin = difference->share <= kTolerance;
      ++compared;
      within += isWithin;
      held += isRules;
      const bool isSteady =
          difference->most - difference->least <= kTolerance * std::abs(difference->most);
      beyond += isRules && !isWithin && isSteady;
      unsteady += isRules && !isWithin && !isSteady;
      if (!isWithin && (values || isRules))
        apart += fmt::format("{}{}{} {}: {:.6g}, ncu {:.6g} to {:.6g}\n", isRules ? "rule: " : "",
                             isSteady ? "" : "unsteady: ", kernel.name, metric, difference->own,
                             difference->least, difference->most);
      if (isRules && difference->share >= worst.first)
        worst = {difference->share, metric};
      if (auto &all = byMetric[metric]; difference->share >= all.first)
        all = {difference->share, kernel.name};
    }
    std::vector<double> seconds = counted.seconds.at(kernel.name);
    const double first = seconds.front();
    seconds.erase(seconds.begin());
    const double more = seconds.empty() ? first : median(seconds);
    longest = std::max({longest, first, more});
    fmt::print("| {} | {:.0f} us | {:.2f}% | {} | {:.2f} s | {:.2f} s |\n", kernel.name,
               1e-3 * median(valuesOf(theirs, "gpu__time_duration.sum")), 100 * worst.first,
               worst.second, first, more);
  }
  fmt::print("\n| metric | read by rules | largest difference | kernel |\n|---|---|---|---|\n");
  for (const auto &[metric, worst] : byMetric)
    fmt::print("| {} | {} | {:.2f}% | {} |\n", metric,
               metric == kOfCarveOut ? "yes, of another carve-out than ncu's: not held"
               : std::binary_search(rules.begin(), rules.end(), metric) ? "yes"
                                                                        : "",
               100 * worst.first, worst.first > 0 ? worst.second : "");
  fmt::print("\nof the rules' metrics {} of {} values are within {:.0f}% of ncu, {} of the others "
             "where ncu's own are further apart, {} missing; of "
             "all metrics {} of {}; a count takes {:.2f} s at most\n{}",
             held - beyond - unsteady, held, 100 * kTolerance, unsteady, missing, within, compared,
             longest, apart);
  return held > 0 && beyond == 0 && missing == 0 && longest < kMaxSeconds;
}

Result<int> run(const fs::path &program, int counting, int repeats, bool check, bool values) {
  const auto processes = makeProcessRunner();
  const CudaToolkit cuda = CudaToolkit::find();
  const auto toolchain = makeNvccToolchain(*processes, cuda);
  if (gpuNodes().empty() || !toolchain) { // a GPU that kopt cannot use is no reason to skip
    fmt::print("skipped: there is {}\n", toolchain ? "no GPU" : "no nvcc");
    return kSkip;
  }
  KOPT_TRY(const TemporaryDirectory folder, TemporaryDirectory::create("kopt-counters"));
  KOPT_CHECK(createDirectories(folder.path() / "built"));
  KOPT_TRY(const auto runner, startRunner(*processes, program, {DeviceKind::Cuda, 0, ""},
                                          folder.path() / "buffers", ""));
  if (!cuda.ncu)
    return kSkip;
  BuildRequest build;
  build.sliceText = kKernels;
  build.symbol = "copy";
  build.arch = runner->device().arch;
  build.output = folder.path() / "built" / "kernels.cubin";
  KOPT_TRY(const BuildOutcome built, (*toolchain)->build(build));
  if (!built.ok)
    return makeError(ErrorCode::Internal, "the kernels do not build: " + built.log);
  KOPT_TRY(const Sandbox sandbox,
           Sandbox::open(*processes, program.parent_path() / "kopt-sandbox", SandboxMode::Auto));
  const Setting setting{
      *processes, *cuda.ncu, {program.string(), "--device", "cuda"}, built.module, folder.path()};
  fmt::print("{}, {}; {} processes of each, {} repeats in each, clocks as they are\n\n",
             runner->device().name, runner->device().driver, counting, repeats);
  KOPT_TRY(const LocalMemory memory, findLocalMemory(setting));
  const std::uint32_t stackBytes = memory.isClear() ? memory.limit + memory.more : 0;
  fmt::print("local memory of each thread under ncu: {} bytes more (hit rates of L1 {:.2f} points "
             "apart, {:.2f} with the next best number{}); "
             "at the same limit of {} bytes the hit rate of 16 floats a thread is {:.2f}%, under "
             "ncu {:.2f}%\n\n",
             memory.more, memory.apart, memory.nextApart,
             memory.isClear() ? "" : ": not clear, not used", memory.limit, memory.alone,
             memory.underNcu);

  std::vector<fs::path> readable = cuda.folders();
  readable.push_back(folder.path() / "built");
  Counted counted;
  using Clock = std::chrono::steady_clock;
  double ours = 0, theirs = 0;
  std::vector<double> begun;
  for (int process = 0; process < counting; ++process) {
    const auto start = Clock::now();
    CounterProcess counter(*processes, setting.runner, sandbox,
                           runnerPolicy({program, readable, true}), cuda.cuptiForChildren());
    counter.count({built.module, kAll[0].name, launchOf(kAll[0]), {}}, Duration(60), {});
    begun.push_back(Duration(Clock::now() - start).count());
    for (int repeat = 0; repeat < repeats; ++repeat)
      for (const Kernel &kernel : kAll) {
        const auto asked = Clock::now();
        const Launch launch =
            launchOf(kernel, std::string_view(kernel.name) == "local" ? stackBytes : 0);
        const ProfileOutcome outcome =
            counter.count({built.module, kernel.name, launch, {}}, Duration(60), {});
        if (outcome.detail.find("denies hardware counters") != outcome.detail.npos) {
          fmt::print("skipped: {}\n", outcome.detail);
          return kSkip;
        }
        if (outcome.counters.empty())
          return makeError(ErrorCode::Internal,
                           fmt::format("{} was not counted: {}", kernel.name, outcome.detail));
        counted.seconds[kernel.name].push_back(Duration(Clock::now() - asked).count());
        counted.cupti[kernel.name].push_back(outcome.counters);
      }
    const auto counts = Clock::now();
    ours += Duration(counts - start).count();
    KOPT_TRY(const auto more, countWithNcu(setting, repeats));
    for (const auto &[kernel, counters] : more)
      counted.ncu[kernel].insert(counted.ncu[kernel].end(), counters.begin(), counters.end());
    theirs += Duration(Clock::now() - counts).count();
  }
  for (const Kernel &kernel : kAll)
    if (counted.ncu[kernel.name].size() != counted.cupti[kernel.name].size())
      return makeError(ErrorCode::Internal,
                       fmt::format("ncu counted {} launches of {}, not {}",
                                   counted.ncu[kernel.name].size(), kernel.name,
                                   counted.cupti[kernel.name].size()));
  fmt::print("once, the process that counts and its first count: {:.2f} s\n\n", median(begun));
  const bool holds = compare(counted, fakes::metricsOfRules(), values);
  fmt::print("{} counts: CUPTI {:.1f} s, ncu {:.1f} s\n", counting * repeats * std::size(kAll),
             ours, theirs);
  return check && !holds ? 1 : 0;
}

} // namespace

int main(int count, char **arguments) {
  CLI::App app("Whether the counters that kopt reads are those of Nsight Compute");
  std::string program;
  int counting = 3, repeats = 2;
  bool check = false, values = false;
  app.add_option("runner", program, "kopt-runner")->required();
  app.add_option("--processes", counting, "how many processes count, of kopt and of ncu")
      ->check(CLI::PositiveNumber);
  app.add_option("--repeats", repeats, "how often each of them counts each kernel")
      ->check(CLI::PositiveNumber);
  app.add_flag("--values", values, "print what is not within 2%");
  app.add_flag("--check", check, "exit 1 where a limit is missed");
  CLI11_PARSE(app, count, arguments);
  const auto done = run(program, counting, repeats, check, values);
  if (done)
    return *done;
  fmt::print(stderr, "counters_truth: {}{}{}\n", done.error().what,
             done.error().hint.empty() ? "" : "; ", done.error().hint);
  return 1;
}
