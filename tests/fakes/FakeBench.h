// SPDX-License-Identifier: Apache-2.0
// A front end, a toolchain and a runner without processes. What a "kernel" does is read from words
// in its text: SLOW, QUICK, FAST (times), CHEAT (wrong only while it is timed), LONG (takes a while
// to build), SLEEP (takes a while to run), OTHERS (other load is on the GPU while it is timed),
// RACES (a modelled device sees it), FULLDISK (cannot be built here), WRONG, SELDOM (on one input
// of many), NAN, PARTIAL, FAULT, HANG, GUARD, INPUT (writes there), RACY, FLAKY (results), NOBUILD,
// REJECT, FLAG, MALLOC (never get that far, or not without an obligation), SANITIZED
// (compute-sanitizer sees it), HURRIED (and warns of it), PRECISE (computes in double precision),
// RARE (the first outcome that is recorded never occurs), LONGER (it does in launches of more than
// 200,000 elements alone), CLOCK (each launch leaves something else), NOISY (a little else), STAMPS
// (something else in a buffer 'stamps'), POISONED (what it reads nobody wrote). LARGEST: each
// element becomes the larger of its result and of what it was. BADLONG: wrong in those long
// launches. COVERS: of a launch that is larger than the declared one, as many elements as it has
// threads. OVERFLOWS: wrong on numbers beyond 1e20. SHARED: it declares 40 KiB of shared memory.
// FRINGE: with threads in another order it reads shared memory that nobody set; DERAILS: it faults.
// SWAYS: a result is a little else where a launch asks for more shared memory; LEANS: always, by
// more; FLIES: by far more. BEYOND: on contents that are drawn for a candidate it reads what nobody
// wrote. WRONG_AT_ and the name of a check: only in the launches of that one.
#pragma once

#include "driver/judge/LocalJudge.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace kopt::fakes {

inline bool has(const std::string &text, const char *word) {
  return text.find(word) != std::string::npos;
}

class FakeFrontend : public Frontend {
public:
  Result<ExtractionResult> extract(const ExtractRequest &) override { return extraction; }
  Result<std::vector<TransformOffer>> transforms(const std::string &, const std::string &,
                                                 const KernelSpec &,
                                                 const std::vector<LaunchShape> &) override {
    return offers;
  }
  Result<ChunkReply> guard(const RenderedSlice &, const RenderedSlice &, std::size_t,
                           const KernelSpec &, const BodyGuard &) override {
    return ChunkReply{"", "there is none here"};
  }
  Result<ChunkReply> specialize(const RenderedSlice &, std::size_t, const KernelSpec &,
                                bool) override {
    return ChunkReply{"", "there is none here"};
  }
  Result<std::vector<Finding>> screen(const std::string &, const std::string &candidate,
                                      const KernelSpec &, const std::string &,
                                      const SharedCode &) override {
    if (has(candidate, "REJECT"))
      return std::vector<Finding>{{"asm", Severity::Reject, "new inline assembly", "line 3"}};
    if (has(candidate, "FLAG")) // only other sizes would show it harmless
      return std::vector<Finding>{
          {"bounds-check", Severity::Flag, "a bounds check is gone", "line 3"}};
    if (has(candidate, "UNORDERED")) // only a tool that sees races would
      return std::vector<Finding>{
          {"barrier-removed", Severity::Flag, "fewer barriers than the baseline", "line 3"}};
    return std::vector<Finding>{};
  }
  Result<MutantSet> mutants(const std::string &, const std::string &, const KernelSpec &,
                            const MutantRequest &request) override {
    MutantSet chosen = mutantSet;
    if (chosen.mutants.size() > request.atMost)
      chosen.mutants.resize(request.atMost);
    return chosen;
  }
  Result<ReferenceClone> referenceClone(const std::string &, const std::string &,
                                        const KernelSpec &) override {
    return clone;
  }
  Result<HostText> hostText(const HostRequest &) override { return HostText(); }
  Result<ModelReply> modelOf(const std::string &, const std::string &, const KernelSpec &,
                             const std::vector<LaunchShape> &) override {
    return ModelReply();
  }
  Result<std::vector<CodeDigest>> codes(const std::vector<NamedText> &texts) override {
    std::vector<CodeDigest> codes;
    for (const NamedText &one : texts)
      codes.push_back({one.text, replaceAll(one.text, one.name, "@")});
    return codes;
  }
  Result<CoverageClone> coverageClone(const std::string &slice, const std::string &,
                                      const KernelSpec &) override {
    CoverageClone marked = reach;
    if (marked.slice.empty())
      marked.slice = slice;
    return marked;
  }
  CoverageClone reach; ///< without marks: the kernel has no conditions
  ExtractionResult extraction;
  std::vector<TransformOffer> offers;
  MutantSet mutantSet; ///< empty: the kernel has nothing to change
  ReferenceClone clone = refused();

private:
  static ReferenceClone refused() {
    ReferenceClone clone;
    clone.refusals = {{"integers", "the kernel computes with integers only", 1}};
    return clone;
  }
};

class FakeToolchain : public Toolchain {
public:
  ToolchainKind kind() const override { return is; }
  ToolchainKind is = ToolchainKind::Nvcc;
  std::string name() const override { return "fake"; }
  Result<BuildOutcome> build(const BuildRequest &request) override {
    ++builds;
    most = std::max(most.load(), ++inside);
    if (has(request.sliceText, "LONG"))
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --inside;
    BuildOutcome outcome;
    if (has(request.sliceText, "FULLDISK"))
      return makeError(ErrorCode::Environment, "the disk is full");
    if (has(request.sliceText, "NOBUILD")) {
      outcome.log = "slice.cu(1): error: identifier \"x\" is undefined\n";
      return outcome;
    }
    const bool isUnfused = std::ranges::find(request.flags, "-fmad=false") != request.flags.end();
    KOPT_CHECK(writeFileAtomically(request.output,
                                   request.sliceText + (isUnfused ? " UNFUSED" : "") +
                                       (request.rounding == Rounding::Up ? " UPWARDS" : "") +
                                       (request.unoptimized ? " " + whenUnoptimized : "")));
    outcome.ok = true;
    outcome.module = request.output;
    if (has(request.sliceText, "MALLOC"))
      outcome.externals = {"malloc"};
    // Comments do not reach the machine code.
    outcome.hash = hashHex(request.sliceText.substr(0, request.sliceText.find("//")));
    return outcome;
  }
  std::string whenUnoptimized;                       ///< words that such a build's text has besides
  std::atomic<int> builds = 0, inside = 0, most = 0; ///< most: at the same time
};

/// Computes out[i] = 2 * in[i] + i for its one read-only and one written buffer.
class FakeRunner : public Runner {
public:
  explicit FakeRunner(std::filesystem::path scratch, bool modelled = false)
      : scratch_(std::move(scratch)) {
    device_.kind = modelled ? DeviceKind::Emulated : DeviceKind::Cuda;
    device_.name = "Fake GPU";
    device_.arch = "sm_90";
    device_.modelled = modelled;
  }
  const DeviceInfo &device() const override { return device_; }
  DeviceInfo &device() { return device_; }

  Result<ModuleInfo> load(const std::filesystem::path &module, const std::string &symbol) override {
    KOPT_CHECK(check());
    KOPT_TRY(const std::string text, readFile(module));
    modules_[++last_] = text;
    ModuleInfo info;
    info.id = last_;
    info.symbol = symbol;
    info.sharedBytes = has(text, "SHARED") ? 40 * 1024 : 0;
    return info;
  }
  void unload(ModuleId module) override { modules_.erase(module); }

  Result<RunOutcome> run(ModuleId module, const Launch &launch,
                         const RunOptions &options) override {
    const std::string text = modules_.at(module);
    ++runs;
    limit = options.limit;
    if (!breaksAt.empty() && has(text, breaksAt.c_str()))
      lost_ = "the GPU fell off the bus";
    KOPT_CHECK(check());
    if (has(text, "SLEEP"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    RunOutcome outcome;
    if (waited > 0)
      outcome.stages["lock"] = waited;
    // Five million instructions a block.
    if (has(text, "LENGTHY") && device_.modelled && options.instructionLimit != 0 &&
        launch.grid.count() * 5'000'000 > options.instructionLimit)
      return failed(RunStatus::TimedOut, "its instructions are used up");
    if (has(text, "REACHES") && device_.modelled && !launch.buffers.empty() &&
        launch.buffers[0].bytes < 1 << 20)
      return failed(RunStatus::Fault, "out of bounds read of 4 bytes");
    if (has(text, "RACES") && device_.modelled)
      return failed(RunStatus::Fault, "two threads meet");
    if (has(text, "FAULT") || (faults && faults(launch)))
      return failed(RunStatus::Fault, "illegal address");
    if (has(text, "BORDER") && device_.modelled && !launch.readsUnsetShared)
      return failed(RunStatus::UnsetShared,
                    "uninitialised read of 4 bytes at byte 8 of shared memory at slice.cu:3");
    if (has(text, "FRINGE") && options.scheduleSeed != 0 && !launch.readsUnsetShared)
      return failed(RunStatus::UnsetShared, "uninitialised read of 4 bytes of shared memory");
    if (has(text, "DERAILS") && options.scheduleSeed != 0)
      return failed(RunStatus::Fault, "illegal address 16");
    if (has(text, "HANG") || (hangs && hangs(launch)))
      return failed(RunStatus::TimedOut, "still running after the deadline");
    if (has(text, "GUARD") && !leftOut(options, "guards"))
      return failed(RunStatus::GuardTouched, "wrote beside 'out'");
    if (has(text, "INPUT") && !leftOut(options, "inputs"))
      return failed(RunStatus::InputChanged, "wrote to 'in'");
    if ((has(text, "RACY") || (has(text, "MEETS") && device_.modelled)) && options.checkRaces)
      return failed(RunStatus::Race, "two threads meet in 'out'");
    std::mt19937_64 random(options.inputSeed);
    std::vector<double> in, out;
    for (const Buffer &buffer : launch.buffers) {
      if (!buffer.symbol.empty())
        continue; // of the module
      std::vector<double> values(buffer.bytes / (buffer.scalar == "f64" ? 8 : 4));
      for (double &value : values)
        value = float(random() % 1000) / 1000;
      if (buffer.readOnly)
        in = values;
      else if (buffer.output) // poison
        out.assign(values.size(), double(options.poisonSeed) * -1e6);
      else
        out = values;
    }
    const bool isIdle = has(text, "NOOP") ||
                        (has(text, "ADDS") && launch.buffers.at(0).fill.kind == FillKind::Captured);
    if (!isIdle) {
      const bool isConstant = has(text, "CONSTANT");
      const std::size_t computed =
          has(text, "COVERS") ? std::min<std::size_t>(out.size(), coveredBy(launch)) : out.size();
      for (std::size_t i = 0; i < computed; ++i)
        out[i] = isConstant ? 1 : 2 * (i < in.size() ? in[i] : 0) + double(i);
    }
    for (const Buffer &buffer : launch.buffers)
      if (has(text, "LARGEST") && !buffer.readOnly && buffer.fill.kind == FillKind::Constant)
        for (double &value : out)
          value = std::max(value, buffer.fill.low);
    for (const Buffer &buffer : launch.buffers)
      if (has(text, "OVERFLOWS") && buffer.readOnly && buffer.fill.high > 1e20)
        out[0] = 0.25;
    if (has(text, "DIVIDES") && device_.modelled)
      out[0] += 1e6;
    if (out.size() > 3)
      out[3] += has(text, "ROUNDS")                           ? 0.002
                : has(text, "JUMPS")                          ? 1
                : has(text, "FUSES") && !has(text, "UNFUSED") ? 1e-8
                : has(text, "STEEP") && has(text, "UPWARDS")  ? 1e-8
                                                              : 0;
    if (has(text, "BY_ORDER"))
      out[4] += double(options.scheduleSeed);
    if (has(text, "POISONED"))
      out[5] += double(options.poisonSeed);
    const bool isLong = out.size() > 200'000;
    if (has(text, "BADLONG") && isLong)
      out[7] += 1e6; // the tolerance follows the largest elements
    if (has(text, "NOISY"))
      out[3] += 0.001 * double(runs % 7);
    if (has(text, "SWAYS"))
      out[3] += 0.0005 * launch.sharedBytes / 4096;
    if (has(text, "LEANS") || has(text, "FLIES"))
      out[3] += has(text, "LEANS") ? 0.008 : 100;
    if (jumpsEvery > 0 && runs % jumpsEvery == 0)
      out[3] += jumpsBy;
    if (has(text, "CLOCK"))
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = double(runs) * 1000 + double(i);
    std::uint64_t unwritten = isIdle ? out.size() : 0;
    if (has(text, "SKIPS") && options.jitter != 0)
      unwritten = 1;
    seeds_[module].insert(options.inputSeed);
    if (declared_.buffers.empty())
      declared_ = launch; // the first launch of all is the baseline's

    constexpr std::uint64_t kLearned = 1000; // seeds of the launches that are learned
    if (has(text, "BEYOND") && options.inputSeed > kLearned &&
        checkOf(launch, options) == "contents")
      out[5] += double(options.poisonSeed);
    const bool isWrong = has(text, "WRONG_AT_")
                             ? has(text, ("WRONG_AT_" + checkOf(launch, options)).c_str())
                             : has(text, "WRONG");
    if (isWrong || computesWrong || (has(text, "SELDOM") && seeds_[module].size() > seldomAfter))
      out[out.size() - 1] += 1;
    if (has(text, "NAN"))
      out[0] = std::numeric_limits<double>::quiet_NaN();
    if (has(text, "FLAKY") && runs % 2 == 0)
      out[3] += 1;
    if (has(text, "PARTIAL"))
      unwritten = 1;
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
      outcome.buffers.emplace_back();
      if (!launch.buffers[i].readOnly) {
        outcome.buffers.back() = scratch_ / fmt::format("{}-{}", options.slot, i);
        // What is recorded in a variable: all happens, but in rare cases the first thing.
        std::string recorded(launch.buffers[i].bytes, '\1');
        recorded[0] = has(text, "RARE") || (has(text, "LONGER") && !isLong) ? '\0' : '\1';
        if (!launch.buffers[i].symbol.empty())
          KOPT_CHECK(writeFileAtomically(outcome.buffers.back(), recorded));
        else if (launch.buffers[i].name == "stamps" && has(text, "STAMPS"))
          write(outcome.buffers.back(),
                std::vector<float>(launch.buffers[i].bytes / 4, float(runs) * 1000));
        else if (launch.buffers[i].scalar == "f64") {
          std::vector<double> own = out;
          own.resize(launch.buffers[i].bytes / sizeof(double));
          write(outcome.buffers.back(), own);
        } else {
          std::vector<float> own(out.begin(), out.end());
          own.resize(launch.buffers[i].bytes / sizeof(float));
          write(outcome.buffers.back(), own);
        }
      }
      outcome.unwritten.push_back(launch.buffers[i].readOnly ? 0 : unwritten);
    }
    return outcome;
  }

  Result<TimingOutcome> time(ModuleId a, const Launch &, ModuleId b, const Launch &launch,
                             const TimeOptions &options) override {
    KOPT_CHECK(check());
    timingBudgets.push_back(options.budget.count());
    TimingOutcome outcome;
    for (std::size_t i = 0; i < launch.buffers.size(); ++i)
      for (const ModuleId module : {a, b}) {
        const auto path = scratch_ / fmt::format("timed-{}-{}", module, i);
        std::string text(launch.buffers[i].bytes,
                         has(modules_.at(module), "CHEAT") ? '\x40' : '\0');
        if (const double little = 1e-8; has(modules_.at(module), "LITTLE"))
          std::memcpy(text.data(), &little, sizeof little);
        KOPT_CHECK(writeFileAtomically(path, text));
        (module == a ? outcome.buffersA : outcome.buffersB).push_back(path);
      }
    outcome.modelled = device_.modelled;
    outcome.cacheMode = options.coldCache ? CacheMode::Cold : CacheMode::Warm;
    const double warmth = options.coldCache ? 1 : 0.5;
    if (device_.modelled)
      outcome.lines = {{"slice.cu", 1, 100, 8}, {"", 0, 20, 0}};
    if (has(modules_.at(b), "HOT"))
      outcome.throttled = {"hw-thermal"};
    if (has(modules_.at(b), "OTHERS"))
      outcome.otherLoad = {"process 4711"};
    std::mt19937_64 random(42);
    for (int i = 0; i < (device_.modelled ? 1 : 40); ++i) {
      const double noise =
          device_.modelled ? 1 : (1 + double(random() % 100) / 1e5) * processEffect(processes);
      outcome.samples.push_back(
          {secondsOf(modules_.at(a)) * noise * warmth, secondsOf(modules_.at(b)) * warmth});
    }
    return outcome;
  }
  Result<ProfileOutcome> profile(ModuleId, const Launch &, const RunOptions &) override {
    ++profiles;
    ProfileOutcome outcome;
    outcome.source = "fake";
    outcome.counters["smsp__thread_inst_executed.sum"] = 1000;
    return outcome;
  }
  std::future<SanitizerReports> sanitize(ModuleId module, const Launch &,
                                         const std::vector<std::string> &tools,
                                         const RunOptions &) override {
    const unsigned errors = has(modules_.at(module), "SANITIZED"),
                   warnings = has(modules_.at(module), "HURRIED");
    const char *first = errors ? "an access out of bounds" : warnings ? "a race" : "";
    return readily(
        std::vector<SanitizerReport>(tools.size(), {true, errors + warnings, warnings, first}));
  }
  void renew() override { ++processes; }
  void prepareRenewals(unsigned count) override { prepared = count; }
  void prepareProfile() override { hasPreparedProfile = true; }
  std::string lost() const override { return lost_; }

  int runs = 0, profiles = 0;
  int jumpsEvery = 0;                ///< so many runs: a result is a little else; 0: never
  double jumpsBy = 0.02;             ///< then
  std::optional<Duration> limit;     ///< of the last run
  std::vector<double> timingBudgets; ///< seconds of each call of time()
  /// Different inputs, more than two looks take and fewer than a third on five draws: on further
  /// ones SELDOM is wrong.
  std::size_t seldomAfter = 28;
  bool computesWrong = false;
  /// Launches that never end, and those that fault, whatever the kernel.
  std::function<bool(const Launch &)> hangs, faults;
  int processes = 0;     ///< that were wanted
  unsigned prepared = 0; ///< that were to be started ahead
  bool hasPreparedProfile = false;
  double waited = 0; ///< seconds that each run says it waited for another kopt
  std::string
      breaksAt; ///< a word: the device is lost when a kernel with it runs; empty: it never is
  std::function<double(int)> processEffect = [](int) {
    return 1.0;
  }; ///< factor of the baseline's times in a process

private:
  Status check() const {
    return lost_.empty() ? Status() : makeError(ErrorCode::Environment, lost_);
  }
  static double secondsOf(const std::string &text) {
    return has(text, "FAST") ? 5e-5 : has(text, "QUICK") ? 7e-5 : has(text, "SLOW") ? 2e-4 : 1e-4;
  }
  static bool leftOut(const RunOptions &options, const std::string &check) {
    return std::find(options.skip.begin(), options.skip.end(), check) != options.skip.end();
  }
  template <class T>
  static void write(const std::filesystem::path &file, const std::vector<T> &values) {
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char *>(values.data()),
               std::streamsize(values.size() * sizeof(T)));
  }

  /// Of launches that are larger than the declared one.
  std::uint64_t coveredBy(const Launch &launch) const {
    const bool isLarger =
        !declared_.buffers.empty() &&
        4 * launch.buffers.back().bytes > 7 * declared_.buffers.back().bytes; // not only moved
    return isLarger ? 33 * launch.grid.count() * launch.block.count() / 32 : ~std::uint64_t(0);
  }

  /// Which check launches a candidate so: by the name of its files, its seed, and what differs from
  /// the declared launch.
  std::string checkOf(const Launch &launch, const RunOptions &options) const {
    const auto is = [&](const char *prefix) { return options.slot.starts_with(prefix); };
    if (is("run"))
      return options.inputSeed == JudgeOptions().seed ? "outputs" : "fresh";
    for (const char *name : {"repeat", "schedule", "reference"})
      if (is(name))
        return name;
    if (!is("derived"))
      return "nothing";
    bool isMoved = launch.buffers.size() != declared_.buffers.size(), isOtherValue = false,
         isMisaligned = false;
    for (std::size_t i = 0; i < launch.arguments.size() && i < declared_.arguments.size(); ++i) {
      const auto *now = std::get_if<BufferArg>(&launch.arguments[i]),
                 *then = std::get_if<BufferArg>(&declared_.arguments[i]);
      if (now && then)
        isMoved |= now->offset != then->offset || now->buffer != then->buffer,
            isMisaligned |= now->offset % 16 != 0;
      else if (!now && !then)
        isOtherValue |= std::get<ValueArg>(launch.arguments[i]).bytes !=
                        std::get<ValueArg>(declared_.arguments[i]).bytes;
    }
    if (isMisaligned)
      return "misaligned";
    if (isMoved)
      return "alignment";
    if (launch.buffers.front().bytes != declared_.buffers.front().bytes)
      return "sizes";
    return isOtherValue ? "scalars" : "contents";
  }

  static RunOutcome failed(RunStatus status, const std::string &detail) {
    RunOutcome outcome;
    outcome.status = status;
    outcome.detail = detail;
    return outcome;
  }

  std::filesystem::path scratch_;
  DeviceInfo device_;
  std::map<ModuleId, std::string> modules_;
  std::map<ModuleId, std::set<std::uint64_t>> seeds_; ///< of the inputs that a module has seen
  ModuleId last_ = 0;
  std::string lost_;
  Launch declared_;
};

/// A kernel of one chunk, with one input and one output of 64 floats.
inline Subject makeSubject(const std::string &text = "kernel") {
  Subject subject;
  subject.kernel.name = "scale";
  subject.kernel.file = "scale.cu";
  subject.kernel.line = 7;
  subject.sliceText = text;
  subject.specialization.symbol = "_Z5scalePKfPf";
  subject.specialization.expression = "scale";
  subject.specialization.slice = "/slices/slice.cu";
  SliceChunk chunk;
  chunk.source = {"scale.cu", 0, text.size()};
  chunk.sliceEnd = text.size();
  chunk.role = ChunkRole::Kernel;
  chunk.name = "scale";
  chunk.editable = true;
  subject.specialization.chunks = {chunk};
  Launch launch;
  launch.name = "64";
  launch.geometry.block[0] = "64";
  for (const char *name : {"in", "out"}) {
    Buffer buffer;
    buffer.name = name;
    buffer.bytes = 64 * 4;
    buffer.scalar = "f32";
    buffer.readOnly = std::string(name) == "in";
    launch.buffers.push_back(buffer);
    launch.arguments.push_back(BufferArg{launch.buffers.size() - 1, 0});
  }
  subject.workload.launches = {launch};
  return subject;
}

inline Candidate candidateWith(const std::string &text) {
  Candidate candidate;
  candidate.proposer = "test";
  candidate.title = text;
  candidate.chunks[0] = text;
  return candidate;
}

} // namespace kopt::fakes
