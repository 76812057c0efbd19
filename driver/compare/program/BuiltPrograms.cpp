// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/BuiltPrograms.h"

#include "driver/source/CompilerMessages.h"
#include "driver/source/SourceEdits.h"
#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/JobQueue.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <future>

namespace kopt {

namespace fs = std::filesystem;
namespace trace = runtime::trace;

namespace {

constexpr Duration kBuildDeadline{1800}, kRunDeadline{3600}, kTestDeadline{1800};
/// A patched program may always take this much longer than the old one.
constexpr Duration kPatchedMargin{60};
constexpr double kPatchedFactor = 10;
constexpr const char *kAppendedFlags = "NVCC_APPEND_FLAGS";

/// Runs commands in a copy of the project.
class InCopy final : public ProcessRunner {
public:
  InCopy(ProcessRunner &inner, const ProjectCopy &copy, fs::path directory, Duration limit)
      : inner_(inner), copy_(copy), directory_(std::move(directory)), limit_(limit) {}

  Result<ProcessResult> run(const ProcessSpec &spec) override { return inner_.run(placed(spec)); }
  Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &spec) override {
    return inner_.start(placed(spec));
  }

private:
  ProcessSpec placed(ProcessSpec spec) const {
    if (spec.cwd.empty())
      spec.cwd = directory_;
    if (!spec.timeout)
      spec.timeout = limit_;
    return copy_.inside(std::move(spec));
  }

  ProcessRunner &inner_;
  const ProjectCopy &copy_;
  fs::path directory_;
  Duration limit_;
};

class BuiltPrograms final : public ProgramPair {
public:
  BuiltPrograms(ProcessRunner &processes, const CaptureSetup &capture, ProgramRequest request,
                const fs::path &scratch, TakeSeconds ran,
                std::vector<std::vector<std::string>> commands)
      : processes_(processes), capture_(capture), request_(std::move(request)), scratch_(scratch),
        ran_(std::move(ran)), commands_(std::move(commands)),
        view_(findCopyView(processes, scratch)) {}

  std::string describe() const override { return kopt::describe(view_); }

  Status buildOld(const ProgramEdits &edits) override {
    KOPT_CHECK(copyOld(edits));
    return build(*old_);
  }

  std::vector<Status> buildNew(const std::vector<ProgramEdits> &edits) override {
    std::vector<Status> built = copyNew(edits);
    std::vector<std::future<void>> jobs;
    JobQueue beside(unsigned(std::max<std::size_t>(1, edits.size())));
    for (std::size_t i = 0; i < edits.size(); ++i)
      if (built[i])
        jobs.push_back(
            beside.call([this, i, &built, &edits] { built[i] = build(*new_[i], edits[i]); }));
    for (std::future<void> &job : jobs)
      job.get();
    return built;
  }

  Built buildBoth(const ProgramEdits &edits) override {
    if (request_.way.kind != BuildWay::Kind::Compiler) { // other ways rebuild only what has changed
      Built built{buildOld(edits), {}};
      if (built.old)
        built.fresh = buildNew({edits}).front();
      return built;
    }
    Built built{copyOld(edits), {}};
    if (!built.old)
      return built;
    built.fresh = copyNew({edits}).front();
    JobQueue beside(1);
    auto fresh = beside.call(
        [&] { return built.fresh ? build(*new_.front(), edits) : std::move(built.fresh); });
    built.old = build(*old_);
    built.fresh = fresh.get();
    return built;
  }

  Result<std::vector<ProgramSample>> run(Side side, std::size_t index) override {
    const Duration limit = side == Side::New && oldSeconds_ > 0
                               ? Duration(kPatchedFactor * oldSeconds_) + kPatchedMargin
                               : kRunDeadline;
    std::vector<ProgramSample> samples;
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      KOPT_TRY(samples.emplace_back(),
               runIn(side == Side::Old ? *old_ : *new_.at(index), commands_[i], limit));
      if (commands_.size() > 1)
        samples.back().command = request_.commands[i];
      if (side == Side::Old)
        oldSeconds_ = std::max(oldSeconds_, samples.back().seconds);
    }
    return samples;
  }

  Result<std::optional<std::string>> test(Side side) override {
    if (request_.tests.empty() || request_.way.kind != BuildWay::Kind::CMake)
      return std::nullopt;
    const ProjectCopy &copy = side == Side::Old ? *old_ : *new_.front();
    ProcessSpec spec;
    spec.argv = {"ctest", "--test-dir",   request_.way.build.string(),
                 "-R",    request_.tests, "--output-on-failure"};
    spec.cwd = request_.way.project;
    spec.timeout = kTestDeadline;
    const auto result = processes_.run(copy.inside(std::move(spec)));
    if (!result)
      return std::nullopt; // no ctest here
    if (result->ok())
      return std::optional<std::string>(std::string());
    return std::optional<std::string>(lastLines(result->out + result->err, 6));
  }

private:
  Result<ProgramSample> runIn(const ProjectCopy &copy, const std::vector<std::string> &command,
                              Duration limit) {
    InCopy processes(processes_, copy, request_.directory, limit);
    const fs::path folder = scratch_ / "trace";
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    TraceSettings settings;
    settings.code = true; // what proves that the patched kernel ran
    ProgramRun run;
    const auto trace = observeProgram(processes, capture_, command, {}, settings, folder, run);
    if (ran_)
      ran_(run.seconds);
    if (!trace && trace.error().code == ErrorCode::Environment)
      return tl::unexpected(trace.error());
    ProgramSample sample;
    sample.exitCode = run.exitCode;
    sample.seconds = run.seconds;
    sample.out = std::move(run.out);
    if (!trace) {
      sample.failure = inWords(trace.error());
      return sample;
    }
    for (const trace::ProcessTrace &process : trace->processes)
      sample.programHash += process.info.programHash + " ";
    sample.kernels = kernelSamples(*trace);
    return sample;
  }

  Status copyOld(const ProgramEdits &edits) {
    const BuildWay &way = request_.way;
    CopyRequest copy;
    copy.folders = {way.project};
    if (!way.build.empty())
      copy.folders.push_back(way.build);
    // Files that the patch changes may lie outside the project, in a folder of headers.
    for (const FileEdits &file : edits)
      copy.folders.push_back((request_.root / file.path).parent_path());
    copy.left = request_.left;
    if (freshConfiguration())
      copy.left.push_back(way.build);
    copy.scratch = scratch_ / "old";
    KOPT_CHECK(createDirectories(copy.scratch));
    KOPT_TRY(old_, ProjectCopy::make(processes_, view_, std::move(copy)));
    // Touch the files that the patch changes, so that both programs rebuild them and differ by the
    // edits alone.
    std::error_code ignored;
    for (const FileEdits &file : edits)
      fs::last_write_time(old_->fileOf(request_.root / file.path), fs::file_time_type::clock::now(),
                          ignored);
    return {};
  }

  /// Copies the old program for each of the edits, and makes them there.
  std::vector<Status> copyNew(const std::vector<ProgramEdits> &edits) {
    std::error_code ignored;
    for (std::size_t i = 0; i < new_.size(); ++i)
      fs::remove_all(scratchOf(i), ignored);
    new_.assign(edits.size(), std::nullopt);
    std::vector<Status> copied(edits.size());
    for (std::size_t i = 0; i < edits.size(); ++i) {
      if (!old_)
        copied[i] = copyOld(edits[i]);
      if (copied[i])
        copied[i] = copyWith(edits[i], scratchOf(i), new_[i]);
    }
    return copied;
  }

  fs::path scratchOf(std::size_t index) const { return scratch_ / fmt::format("new-{}", index); }

  Status copyWith(const ProgramEdits &edits, const fs::path &scratch,
                  std::optional<ProjectCopy> &copy) {
    KOPT_CHECK(createDirectories(scratch));
    KOPT_TRY(copy, old_->again(processes_, scratch));
    for (const FileEdits &edited : edits) {
      const fs::path file = copy->fileOf(request_.root / edited.path);
      KOPT_TRY(const std::string before, readFile(file));
      if (!edited.baseHash.empty() && hashHex(before) != edited.baseHash)
        return makeError(ErrorCode::StaleInput, "the file is not the one that kopt read",
                         "bring both to the same state", (request_.root / edited.path).string());
      KOPT_TRY(const std::string after, applyEdits(before, edited.edits));
      KOPT_CHECK(writeFileAtomically(file, after));
    }
    return {};
  }

  /// True if the copy needs a new configuration: a moved CMake build folder would hold absolute
  /// paths of the original.
  bool freshConfiguration() const {
    return view_ == CopyView::Moved && request_.way.kind == BuildWay::Kind::CMake;
  }

  /// nvcc takes the flags of the edits from the environment: whatever the build is, it compiles the
  /// edited files alone.
  Status build(const ProjectCopy &copy, const ProgramEdits &edits = {}) {
    if (freshConfiguration())
      KOPT_CHECK(configure(copy));
    ProcessSpec spec;
    for (const FileEdits &file : edits)
      for (const std::string &flag : file.flags.value_or(std::vector<std::string>())) {
        const char *own = std::getenv(kAppendedFlags);
        std::string &all = spec.env.try_emplace(kAppendedFlags, own ? own : "").first->second;
        if ((" " + all + " ").find(" " + flag + " ") == std::string::npos)
          all += " " + flag;
      }
    spec.argv = request_.way.argv;
    spec.cwd = request_.way.directory;
    return runBuild(copy, std::move(spec));
  }

  Status configure(const ProjectCopy &copy) {
    const BuildWay &way = request_.way;
    const fs::path folder = copy.fileOf(way.build);
    std::error_code ignored;
    fs::remove_all(folder, ignored); // remove the build folder that was copied
    KOPT_CHECK(createDirectories(folder));
    KOPT_TRY(const std::string text, readFile(way.build / "CMakeCache.txt"));
    const std::vector<CacheEntry> entries = readCMakeCache(text);
    const fs::path script = folder / "kopt-initial-cache.cmake";
    KOPT_CHECK(writeFileAtomically(script, initialCache(entries, way.project, way.build)));
    ProcessSpec spec;
    spec.argv = {way.argv.front(),     "-C", script.string(), "-S",
                 way.project.string(), "-B", folder.string()};
    for (const CacheEntry &entry : entries)
      if (entry.name == "CMAKE_GENERATOR" && !entry.value.empty())
        spec.argv.insert(spec.argv.end(), {"-G", entry.value});
    spec.cwd = way.project;
    return runBuild(copy, std::move(spec));
  }

  Status runBuild(const ProjectCopy &copy, ProcessSpec spec) {
    spec.timeout = kBuildDeadline;
    const std::string words =
        request_.way.kind == BuildWay::Kind::Command ? spec.argv.back() : joinCommand(spec.argv);
    KOPT_TRY(const ProcessResult built, processes_.run(copy.inside(std::move(spec))));
    if (built.ok())
      return {};
    const std::string &said = trim(built.err).empty() ? built.out : built.err;
    if (const std::string flags = missingLibraries(built.out + built.err); !flags.empty())
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("'{}' does not link: it lacks {}", words, flags),
                       request_.way.kind == BuildWay::Kind::Compiler
                           ? fmt::format("add {} to the flags after --", flags)
                           : "its last output was: " + lastLines(said, 8));
    return makeError(
        ErrorCode::BaselineFailed,
        built.timedOut ? fmt::format("'{}' took more than {:.0f} s", words, kBuildDeadline.count())
                       : fmt::format("'{}' failed with exit code {}", words, built.exitCode),
        "its last output was: " + lastLines(said, 8));
  }

  ProcessRunner &processes_;
  const CaptureSetup &capture_;
  ProgramRequest request_;
  const fs::path scratch_;
  const TakeSeconds ran_;
  std::vector<std::vector<std::string>> commands_;
  CopyView view_;
  std::optional<ProjectCopy> old_;
  std::vector<std::optional<ProjectCopy>> new_; ///< nothing if it failed
  double oldSeconds_ = 0;
};

} // namespace

Result<std::unique_ptr<ProgramPair>> openPrograms(ProcessRunner &processes,
                                                  const CaptureSetup &capture,
                                                  ProgramRequest request, const fs::path &scratch,
                                                  TakeSeconds ran) {
  KOPT_CHECK(checkCapture(capture));
  std::vector<std::vector<std::string>> commands;
  for (const std::string &command : request.commands) {
    KOPT_TRY(commands.emplace_back(), splitCommand(command));
  }
  KOPT_CHECK(createDirectories(scratch));
  return std::make_unique<BuiltPrograms>(processes, capture, std::move(request), scratch,
                                         std::move(ran), std::move(commands));
}

std::vector<KernelSample> kernelSamples(const ObservedTrace &trace) {
  std::vector<KernelSample> samples;
  for (const KernelUse &use : rankKernels(trace)) {
    KernelSample sample;
    sample.symbol = use.symbol;
    sample.launches = use.launches;
    sample.seconds = use.timed > 0 ? use.seconds : 0;
    for (const LaunchClass &one : use.classes) {
      LaunchClass whole = one;
      whole.slow = whole.fast = false;
      sample.geometries.insert(whole.describe());
    }
    for (const trace::ProcessTrace &process : trace.processes) {
      for (const trace::Function &function : process.functions)
        if (function.symbol == use.symbol && !function.code.empty())
          sample.code.insert(function.code);
      if (use.timed == use.launches)
        for (const trace::Launch &launch : process.launches)
          if (process.functions[launch.function].symbol == use.symbol)
            sample.launchSeconds.push_back(launch.seconds);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

} // namespace kopt
