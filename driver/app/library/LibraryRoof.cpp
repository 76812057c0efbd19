// SPDX-License-Identifier: Apache-2.0
#include "driver/app/library/LibraryRoof.h"

#include "driver/device/runner/DeviceLock.h"
#include "driver/judge/CandidateBuilder.h"
#include "driver/judge/context/CompareBuffers.h"
#include "driver/model/Json.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/support/ElementType.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"
#include "driver/support/MappedFile.h"
#include "driver/support/Text.h"
#include "driver/workload/ScalarArguments.h"
#include "knowledge/LibraryFiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

/// Of all buffers together: they are read several times.
constexpr std::uint64_t kMostBytes = 2ull << 30;
/// A sort of pairs has two of keys and two of values.
constexpr std::size_t kMostBuffers = 4;
/// CUB takes nvcc about ten seconds, and cuBLAS three, beside the measurement of the baseline.
constexpr std::chrono::seconds kMostWait(20);
constexpr Duration kToCompile(120), kToRun(60);
constexpr const char *kBefore = "library-before", *kAfter = "library-after"; ///< slots of runs
constexpr const char *kNothing = "extern \"C\" __global__ void kopt_nothing() {}\n";

tl::unexpected<Error> noCall(std::string why) {
  return makeError(ErrorCode::Usage, std::move(why));
}

/// Why no call is looked for; empty: one is.
std::string reasonNotToLook(const Launch &launch, const PooledRunner &device) {
  if (device.runner->device().kind != DeviceKind::Cuda)
    return "cuBLAS and CUB are measured only on a GPU";
  std::uint64_t bytes = 0;
  std::set<std::size_t> pointedTo;
  for (const Argument &argument : launch.arguments)
    if (const auto *pointer = std::get_if<BufferArg>(&argument))
      pointedTo.insert(pointer->buffer);
  for (const Buffer &buffer : launch.buffers)
    bytes += buffer.bytes;
  return pointedTo.size() < launch.buffers.size() ? "it has memory that no argument points to"
         : pointedTo.size() > kMostBuffers        ? "it has more buffers than any call"
         : bytes > kMostBytes
             ? "its buffers are too large to be compared: " + formatBytes(double(bytes))
             : "";
}

/// The arguments of a launch, without what its memory holds.
LaunchRecord recordOf(const Specialization &kernel, const Launch &launch) {
  LaunchRecord record;
  for (const auto &[name, value] : integersOf(kernel, launch))
    record.sizes.push_back(value);
  for (const auto &[name, value] : launch.bindings)
    record.sizes.push_back(value);
  for (const auto &[blocks, threads] : {std::pair(launch.grid.x, launch.block.x),
                                        {launch.grid.y, launch.block.y},
                                        {launch.grid.z, launch.block.z}})
    record.shapes.insert(record.shapes.end(), {blocks, threads, 2 * std::int64_t(threads),
                                               std::int64_t(blocks) * threads});
  for (std::size_t i = 0; i < std::min(launch.arguments.size(), kernel.params.size()); ++i) {
    const std::string &scalar = kernel.params[i].scalar;
    if (const auto *pointer = std::get_if<BufferArg>(&launch.arguments[i]))
      record.operands.push_back({scalar, {}, {}, pointer->buffer, pointer->offset});
    else if (const auto &value = std::get<ValueArg>(launch.arguments[i]);
             isFloating(scalar) && value.bytes.size() == elementBytes(scalar))
      record.reals.push_back(withElementType(
          scalar, [&](auto type) { return decltype(type)::value(value.bytes.data()); }));
  }
  return record;
}

} // namespace

void LibraryRoof::onDevice(const Workload &workload, const std::function<Status()> &step) {
  const auto run = [&] {
    if (const Status status = step(); !status)
      why_ = status.error().what;
    Launch small = workload.launches[launch_]; // its files take memory until the next run
    for (Buffer &buffer : small.buffers) {
      buffer.bytes = 16;
      buffer.fill = {};
    }
    for (const char *slot : {kBefore, kAfter})
      static_cast<void>(idle(small, slot));
    for (const ModuleId module : {module_, nothing_})
      if (module != 0 && !compiled_.valid()) // nothing is left to do
        tools_.device.runner->unload(module);
  };
  if (tools_.device.thread)
    tools_.device.thread->runAndWait(run);
  else
    run();
}

Result<ModuleId> LibraryRoof::load(const std::string &name, BuildRequest request) {
  request.output = tools_.scratch / name / "module.cubin";
  KOPT_CHECK(createDirectories(request.output.parent_path()));
  KOPT_TRY(const BuildOutcome built, tools_.toolchain.build(request));
  if (!built.ok)
    return noCall(name + " does not compile");
  KOPT_TRY(const ModuleInfo info, tools_.device.runner->load(built.module, request.symbol));
  return info.id;
}

/// Runs what does nothing on the buffers of a launch, and returns what they held.
Result<RunOutcome> LibraryRoof::idle(Launch launch, const char *slot) {
  launch.arguments.clear();
  launch.grid = launch.block = {};
  launch.sharedBytes = 0;
  launch.cooperative = false;
  for (Buffer &buffer : launch.buffers)
    buffer.readOnly = false; // so that it is given back
  RunOptions options;
  options.slot = slot;
  return tools_.device.runner->run(nothing_, launch, options);
}

Result<LibraryRoof::Seen> LibraryRoof::look(const Launch &launch) {
  KOPT_TRY(const RunOutcome before, idle(launch, kBefore));
  RunOptions options;
  options.slot = kAfter;
  KOPT_TRY(RunOutcome after, tools_.device.runner->run(module_, launch, options));
  if (before.status != RunStatus::Ok || after.status != RunStatus::Ok)
    return noCall("launch " + launch.name + " does not run: " + before.detail + after.detail);
  for (std::size_t b = 0; b < after.buffers.size(); ++b)
    if (after.buffers[b].empty())
      after.buffers[b] = before.buffers[b];
  return Seen{before.buffers, after.buffers};
}

Result<std::optional<LibraryCall>> LibraryRoof::find(const Launch &launch) {
  KOPT_TRY(const Seen seen, look(launch));
  std::vector<MappedFile> files;
  LaunchRecord record = recordOf(kernel_.specialization, launch);
  for (Operand &operand : record.operands) {
    if (runtime::scalarBytes(operand.scalar) == 0)
      return std::nullopt;
    std::uint64_t end = launch.buffers[operand.buffer].bytes;
    for (const Operand &other : record.operands)
      if (other.buffer == operand.buffer && other.offset > operand.offset)
        end = std::min(end, other.offset);
    for (const auto &[paths, bytes] :
         {std::pair(&seen.before, &operand.before), {&seen.after, &operand.after}}) {
      KOPT_TRY(MappedFile file, MappedFile::open((*paths)[operand.buffer]));
      *bytes = file.bytes().substr(operand.offset, end - operand.offset);
      files.push_back(std::move(file));
    }
  }
  return libraryCallOf(record);
}

void LibraryRoof::recognise(const Workload &workload) {
  const auto heaviest = std::ranges::max_element(workload.launches, {}, &Launch::weight);
  if (heaviest == workload.launches.end())
    return;
  launch_ = std::size_t(heaviest - workload.launches.begin());
  launchName_ = heaviest->name;
  const LoggedStage logged(kernel_.specialization.symbol + ": look for a library's call");
  why_ = reasonNotToLook(*heaviest, tools_.device);
  if (why_.empty())
    onDevice(workload, [&] { return recogniseLaunch(*heaviest); });
}

Status LibraryRoof::recogniseLaunch(Launch launch) {
  const std::string arch = tools_.device.runner->device().arch;
  KOPT_TRY(const RenderedSlice rendered, renderSlice(kernel_, Candidate()));
  KOPT_TRY(module_, load("kernel", CandidateBuilder::requestOf(kernel_, arch, rendered, {})));
  BuildRequest nothing;
  nothing.sliceText = kNothing;
  nothing.symbol = "kopt_nothing";
  nothing.arch = arch;
  KOPT_TRY(nothing_, load("nothing", std::move(nothing)));
  const auto draw = [](Buffer &buffer) {
    const bool isReal = isFloating(buffer.scalar);
    buffer.fill = {FillKind::Uniform, isReal ? -1.0 : 0.0, isReal ? 1.0 : 1000.0};
  };
  KOPT_TRY(std::optional<LibraryCall> first, find(launch));
  if (!first) { // a launch that the program repeats finds its own results, and changes nothing
    for (Buffer &buffer : launch.buffers)
      if (!buffer.readOnly)
        draw(buffer);
    KOPT_TRY(first, find(launch));
  }
  if (!first)
    return noCall("no call of cuBLAS or CUB that kopt knows computes launch " + launch.name);
  // Contents such as all ones are the result of many calls.
  const LaunchRecord record = recordOf(kernel_.specialization, launch);
  for (const std::size_t in : first->in)
    draw(launch.buffers[record.operands[in].buffer]);
  KOPT_TRY(call_, find(launch));
  if (!call_)
    return noCall(fmt::format("{} computes launch {}, but only from its own contents", first->name,
                              launch.name));
  if (!tools_.cuda.nvcc)
    return notBuilt(tools_.cuda.nvcc.error().what);
  compiled_ = std::async(std::launch::async, [this] { return compile(); });
  return {};
}

Status LibraryRoof::notBuilt(const std::string &why) const {
  return noCall(
      fmt::format("{} computes launch {}, but is not built: {}", call_->name, launchName_, why));
}

Status LibraryRoof::compile() const {
  for (const auto &[name, text] : knowledge::libraries::kFiles)
    KOPT_CHECK(writeFileAtomically(tools_.scratch / name, text));
  ProcessSpec spec;
  spec.argv = {tools_.cuda.nvcc->string(),
               "-std=c++17",
               "-arch=" + tools_.device.runner->device().arch,
               "-o",
               "program",
               call_->program};
  for (const std::string &macro : call_->macros)
    spec.argv.push_back("-D" + macro);
  const std::vector<std::string> &flags = kernel_.kernel.compileFlags;
  if (const auto host = std::ranges::find(flags, "-ccbin");
      host != flags.end() && host + 1 != flags.end())
    spec.argv.insert(spec.argv.end(), {"-ccbin", host[1]});
  if (call_->name.starts_with("cublas")) {
    spec.argv.push_back("-lcublas");
    for (const char *folder : {"lib64", "lib"})
      spec.argv.push_back("-Xlinker=-rpath=" + (tools_.cuda.root.folder / folder).string());
  }
  spec.cwd = tools_.scratch;
  spec.timeout = kToCompile;
  KOPT_TRY(const ProcessResult result, tools_.processes.run(spec));
  if (!result.ok())
    return notBuilt(oneLine(cleanDiagnostics(result.err + result.out, tools_.scratch, 300)));
  return {};
}

Status LibraryRoof::measure(const Workload &workload) {
  if (compiled_.wait_for(kMostWait) != std::future_status::ready)
    return notBuilt("nvcc was not done in time");
  KOPT_CHECK(compiled_.get());
  const DeviceInfo &device = tools_.device.runner->device();
  const Launch &launch = workload.launches[launch_];
  KOPT_TRY(const Seen seen, look(launch));
  const std::vector<Operand> operands = recordOf(kernel_.specialization, launch).operands;
  ProcessSpec spec;
  spec.argv = {(tools_.scratch / "program").string(),
               replaceAll(device.uuid.substr(device.uuid.find('-') + 1), "-", "")};
  for (const double number : call_->numbers)
    spec.argv.push_back(fmt::format("{}", number));
  for (const std::size_t in : call_->in)
    spec.argv.insert(spec.argv.end(), {"in", seen.before[operands[in].buffer].string(),
                                       std::to_string(operands[in].offset)});
  const auto resultOf = [&](const Operand &out) {
    return tools_.scratch / fmt::format("result{}", out.buffer);
  };
  for (const std::size_t out : call_->out)
    spec.argv.insert(spec.argv.end(),
                     {"out", seen.before[operands[out].buffer].string(),
                      std::to_string(operands[out].offset), resultOf(operands[out]).string()});
  spec.timeout = kToRun;
  DeviceLock lock(deviceLockFile(device.uuid), device.name, {});
  KOPT_TRY(const DeviceLock::Hold hold, lock.take());
  KOPT_TRY(const ProcessResult result, tools_.processes.run(spec));
  const auto times = fromJson<LibraryTimes>(nlohmann::json::parse(result.out, nullptr, false));
  if (!result.ok() || !times)
    return noCall(fmt::format("{} failed: {}", call_->name, oneLine(result.err)));
  for (const std::size_t out : call_->out) {
    const std::size_t b = operands[out].buffer;
    if (launch.buffers[b].varies)
      return noCall(fmt::format("the results in '{}' vary, so those of {} say nothing",
                                launch.buffers[b].name, call_->name));
    KOPT_TRY(const std::optional<Mismatch> mismatch,
             compareBuffers(launch.buffers[b], workload.tolerance, seen.after[b],
                            resultOf(operands[out])));
    if (mismatch)
      return noCall(fmt::format("{} gives another output for launch {}: {}", call_->name,
                                launchName_, mismatch->describe(launch.buffers[b])));
  }
  times_ = *times;
  return {};
}

void LibraryRoof::finish(Trial &trial, const Workload &workload) {
  const bool isBaseline = trial.candidate.proposer == "baseline";
  if (isBaseline && compiled_.valid() && !times_)
    onDevice(workload, [&] { return measure(workload); });
  const auto timing = std::ranges::find(trial.timings, launchName_, &LaunchTiming::launch);
  if (!times_ || timing == trial.timings.end() ||
      (!isBaseline && trial.counters.empty() && trial.purpose != Purpose::Confirmation))
    return;
  const LibraryTime &time = timing->cacheMode == CacheMode::Warm ? times_->warm : times_->cold;
  const double own = isBaseline ? timing->baselineSeconds : timing->candidateSeconds,
               ratio = own / time.seconds;
  RuleHit hit;
  hit.id = kId;
  hit.severity = ratio > 1.5 ? "high" : ratio > 1.05 ? "medium" : "low";
  hit.finding = fmt::format("{} computes launch {} in {} [{}, {}] (the same output within the "
                            "tolerance): {} {:.2f}x as fast",
                            call_->name, launchName_, formatDuration(time.seconds),
                            formatDuration(time.low), formatDuration(time.high),
                            ratio >= 1 ? "it is" : "this kernel is", std::max(ratio, 1 / ratio));
  hit.action = "call the library, or take its time as what can be reached";
  hit.skills = {"library-calls"};
  hit.evidence = {{"library_seconds", time.seconds}, {"own_seconds", own}};
  trial.diagnosis.hits.insert(trial.diagnosis.hits.begin(), std::move(hit));
  trial.diagnosis.headroom = std::max(trial.diagnosis.headroom, ratio);
}

} // namespace kopt
