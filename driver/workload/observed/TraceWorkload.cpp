// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/TraceWorkload.h"

#include "driver/source/KernelNames.h"
#include "driver/support/ElementType.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/MappedFile.h"
#include "driver/support/Text.h"
#include "driver/workload/ScalarArguments.h"
#include "driver/workload/WorkloadBuilder.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {

namespace fs = std::filesystem;
namespace trace = runtime::trace;

namespace {

/// True if elements of the type may be addresses: 8-byte integers, and unknown types.
bool mayHoldPointers(const std::string &scalar) {
  if (const auto type = runtime::StructType::parse(scalar))
    return std::ranges::any_of(type->members,
                               [](const auto &member) { return mayHoldPointers(member.scalar); });
  return scalar.empty() || scalar == "u64" || scalar == "i64";
}

/// Makes a launch of a workload from a launch of the trace.
class LaunchMaker {
public:
  LaunchMaker(const ObservedTrace &trace, const KernelSpec &kernel,
              const Specialization &specialization, const LaunchRef &ref)
      : folder_(trace.folder), process_(trace.processes[ref.process]),
        observed_(process_.launches[ref.launch]), kernel_(kernel), specialization_(specialization) {
  }

  /// Nothing if the launch cannot be repeated by itself; why() says why.
  std::optional<CapturedLaunch> make() {
    if (const auto reason = whyNotReplayable(observed_))
      return refuse(*reason);
    const auto snapshot = process_.snapshots.find(observed_.sequence);
    if (snapshot == process_.snapshots.end()) {
      const auto reason = process_.notSnapshotted.find(observed_.sequence);
      return refuse(reason == process_.notSnapshotted.end() ? "it has no snapshot"
                                                            : reason->second);
    }
    snapshot_ = &snapshot->second;
    if (!addBuffers() || !addArguments())
      return std::nullopt;
    describeBuffers();
    CapturedLaunch made;
    made.launch = std::move(launch_);
    made.launch.grid = {observed_.grid[0], observed_.grid[1], observed_.grid[2]};
    made.launch.block = {observed_.block[0], observed_.block[1], observed_.block[2]};
    made.launch.sharedBytes = observed_.sharedBytes;
    made.launch.cooperative = (observed_.flags & trace::kCooperative) != 0;
    made.launch.stackBytes = snapshot->second.stackBytes;
    setGeometry(made.launch);
    made.after = after_;
    made.notAfter = notAfter_;
    made.ordinal = observed_.ordinal;
    return made;
  }
  const std::string &why() const { return why_; }

private:
  std::optional<CapturedLaunch> refuse(std::string why) {
    why_ = std::move(why);
    return std::nullopt;
  }

  bool addBuffers() {
    for (const trace::SnapshotItem &item : snapshot_->before) {
      if (!item.stored) {
        why_ = fmt::format("{} of its memory is not stored: {}", formatBytes(double(item.bytes)),
                           item.reason);
        return false;
      }
      const trace::SnapshotItem *later = nullptr;
      std::string notLater =
          snapshot_->after.empty() ? "the launch was not seen to end" : "it is no longer allocated";
      for (const trace::SnapshotItem &other : snapshot_->after)
        if (other.base == item.base && other.stored)
          later = &other;
        else if (other.base == item.base)
          notLater = other.reason;
      notAfter_.push_back(later ? "" : notLater);
      Buffer buffer;
      buffer.bytes = item.bytes;
      buffer.fill.kind = FillKind::Captured;
      buffer.fill.path = (folder_ / trace::contentsPath(item.hash)).string();
      buffer.address = item.base;
      buffer.symbol = item.kind == trace::AllocationKind::Symbol ? item.name : "";
      after_.push_back(later ? (folder_ / trace::contentsPath(later->hash)).string() : "");
      unchanged_.push_back(later && later->hash == item.hash);
      launch_.buffers.push_back(std::move(buffer));
    }
    uses_.resize(launch_.buffers.size());
    return true;
  }

  bool addArguments() {
    const trace::Function &function = process_.functions[observed_.function];
    const std::string packed(reinterpret_cast<const char *>(observed_.arguments.data()),
                             observed_.arguments.size());
    for (std::size_t i = 0; i < specialization_.params.size(); ++i) {
      const KernelParam &param = specialization_.params[i];
      if (i >= function.parameters.size() || function.parameters[i].bytes != param.size) {
        why_ = "its parameters are not known";
        return false;
      }
      const trace::Parameter &at = function.parameters[i];
      if (at.offset + std::uint64_t(at.bytes) > packed.size()) {
        why_ = "its arguments are not all recorded";
        return false;
      }
      ValueArg value{packed.substr(at.offset, at.bytes)};
      for (std::size_t word = (8 - at.offset % 8) % 8; word + 8 <= value.bytes.size(); word += 8) {
        auto pointer = pointerTo(launch_, loadAs<std::uint64_t>(value.bytes.data() + word));
        if (!pointer)
          continue;
        if (!launch_.buffers[pointer->buffer].symbol.empty()) {
          why_ = fmt::format("its argument '{}' points to the module's own variable {}", param.name,
                             launch_.buffers[pointer->buffer].symbol);
          return false;
        }
        pointer->at = word;
        uses_[pointer->buffer].push_back({&param, pointer->offset, pointeeOf(param, word)});
        value.pointers.push_back(*pointer);
      }
      if (param.kind == ParamKind::Pointer && value.pointers.empty() &&
          loadAs<std::uint64_t>(value.bytes.data()) != 0) {
        why_ = fmt::format("its argument '{}' points to memory that was not captured", param.name);
        return false;
      }
      if (param.kind == ParamKind::Pointer && !value.pointers.empty())
        launch_.arguments.push_back(BufferArg{value.pointers[0].buffer, value.pointers[0].offset});
      else
        launch_.arguments.push_back(std::move(value));
      if (param.kind == ParamKind::Scalar)
        if (const auto integer =
                integerOf(param.scalar, std::get<ValueArg>(launch_.arguments.back()).bytes))
          integers_[param.name] = *integer;
    }
    return true;
  }

  /// Sets names, element types and roles of the buffers from the parameters that point into them.
  void describeBuffers() {
    for (std::size_t i = 0; i < launch_.buffers.size(); ++i) {
      Buffer &buffer = launch_.buffers[i];
      if (!buffer.symbol.empty()) {
        buffer.name = kernelName(buffer.symbol);
        buffer.readOnly = unchanged_[i];
        buffer.scalar = "u8";
        for (const ConstantVariable &variable : specialization_.constantVariables)
          if (variable.bytes == buffer.bytes && kernelName(variable.symbol) == buffer.name)
            buffer.scalar = variable.scalar;
        continue;
      }
      bool onlyConst = !uses_[i].empty();
      const Use *named = nullptr;
      bool mixed = false;
      for (const Use &use : uses_[i]) {
        const bool isConst = use.param->kind == ParamKind::Pointer && use.param->pointeeConst;
        onlyConst &= isConst;
        // A parameter that may write decides how the buffer is compared.
        if (!named || (named->param->pointeeConst && !isConst))
          named = &use;
        else if (named->param->pointeeConst == isConst && named->scalar != use.scalar)
          mixed = true;
      }
      const std::string scalar = named && !mixed ? named->scalar : "";
      buffer.name = named ? named->param->name : fmt::format("memory {}", i);
      buffer.holdsPointers = mayHoldPointers(scalar);
      buffer.scalar =
          scalar.empty() || named->offset % runtime::elementSize(scalar) != 0 ? "u8" : scalar;
      buffer.readOnly = onlyConst && unchanged_[i];
    }
  }

  /// Uses the expressions of a launch site that give the observed geometry, so that a candidate may
  /// change the block; the observed numbers if no site's do.
  void setGeometry(Launch &launch) const {
    for (std::size_t i = 0; i < kernel_.launches.size(); ++i) {
      const LaunchSite &site = kernel_.launches[i];
      if (site.symbol != specialization_.symbol || site.geometry == GeometryKind::Unresolved)
        continue;
      Bindings bindings = bindingsAtSite(kernel_, specialization_, site, integers_);
      const std::array block{launch.block.x, launch.block.y, launch.block.z};
      for (std::size_t axis = 0; axis < block.size(); ++axis) // chosen by a variable of the host
        if (isName(site.block[axis]))
          bindings.try_emplace(site.block[axis], block[axis]);
      const GeometryExpressions expressions{site.grid, site.block, site.sharedBytes};
      const auto geometry = evaluateGeometry(expressions, bindings);
      if (!geometry || geometry->grid != launch.grid || geometry->block != launch.block ||
          geometry->sharedBytes != launch.sharedBytes)
        continue;
      launch.site = i;
      launch.bindings = bindings;
      launch.geometry = expressions;
      return;
    }
    // No site matches: bind values by the parameters' names only.
    launch.bindings = bindingsAtSite(kernel_, specialization_, LaunchSite(), integers_);
    const auto words = [](const Dim3 &of) {
      return std::array<std::string, 3>{std::to_string(of.x), std::to_string(of.y),
                                        std::to_string(of.z)};
    };
    launch.geometry = {words(launch.grid), words(launch.block), std::to_string(launch.sharedBytes)};
  }

  struct Use {
    const KernelParam *param;
    std::uint64_t offset;
    std::string scalar; ///< the pointed-to type; empty: unknown
  };
  fs::path folder_;
  const trace::ProcessTrace &process_;
  const trace::Launch &observed_;
  const KernelSpec &kernel_;
  const Specialization &specialization_;
  const trace::Snapshot *snapshot_ = nullptr;
  Launch launch_;
  std::vector<std::string> after_, notAfter_;
  std::vector<bool> unchanged_;
  std::vector<std::vector<Use>> uses_; ///< for each buffer
  std::map<std::string, std::int64_t> integers_;
  std::string why_;
};

/// The kernel's launches. A file-local kernel, whose symbol contains the name of its file, is found
/// by its readable name.
const KernelUse *findKernel(const std::vector<KernelUse> &kernels,
                            const Specialization &specialization) {
  for (const KernelUse &use : kernels)
    if (use.symbol == specialization.symbol)
      return &use;
  for (const KernelUse &use : kernels)
    if (specialization.fileLocal && kernelName(use.symbol) == kernelName(specialization.symbol))
      return &use;
  return nullptr;
}

Status checkSignature(const ObservedTrace &trace, const KernelUse &use, const KernelSpec &kernel,
                      const Specialization &specialization) {
  for (const trace::ProcessTrace &process : trace.processes)
    for (const trace::Function &function : process.functions) {
      if (function.symbol != use.symbol || !function.layoutKnown)
        continue;
      std::vector<std::string> before, now;
      for (const trace::Parameter &parameter : function.parameters)
        before.push_back(std::to_string(parameter.bytes));
      for (const KernelParam &param : specialization.params)
        now.push_back(std::to_string(param.size));
      if (before != now)
        return makeError(ErrorCode::StaleInput,
                         fmt::format("kernel '{}' has parameters of {} bytes, but in the trace of "
                                     "{} bytes: its signature has changed",
                                     kernel.name, join(now, ", "), join(before, ", ")),
                         "observe the program again", placeOf(kernel));
    }
  return {};
}

/// The launches of a kernel that can be replayed, as indices of TraceWorkload::captured by process
/// and launch, and why others cannot.
struct Replayable {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> captured;
  std::set<std::string> reasons;
  bool hasAttributes = false; ///< of the program's launches, which kopt's do not have
};

Replayable replayableLaunches(const ObservedTrace &trace, const KernelUse &use,
                              const KernelSpec &kernel, const Specialization &specialization,
                              std::vector<CapturedLaunch> &captured) {
  Replayable found;
  std::vector<LaunchRef> all;
  for (const LaunchClass &one : use.classes)
    all.insert(all.end(), one.launches.begin(), one.launches.end());
  std::ranges::sort(all, {}, &LaunchRef::place);
  for (const LaunchRef &ref : all) {
    LaunchMaker maker(trace, kernel, specialization, ref);
    if (auto launch = maker.make()) {
      found.hasAttributes |=
          (trace.processes[ref.process].launches[ref.launch].flags & trace::kOtherAttributes) != 0;
      found.captured[{ref.process, ref.launch}] = captured.size();
      captured.push_back(std::move(*launch));
    } else {
      found.reasons.insert(maker.why());
    }
  }
  return found;
}

void addNotes(const KernelSpec &kernel, const Replayable &found, TraceWorkload &made) {
  if (made.coverage < kCoverage)
    made.notes.push_back(
        fmt::format("note: the captured launches of '{}' represent {} of its time in the program",
                    kernel.name, formatPercent(made.coverage)));
  if (found.hasAttributes)
    made.notes.push_back(fmt::format(
        "note: the program launches '{}' with attributes that kopt's launches do not have "
        "(priority, cache "
        "policy, programmatic launch or the like): results are the same, times may differ",
        kernel.name));
  for (const std::string &reason : found.reasons)
    if (reason != "it has no snapshot")
      made.notes.push_back(
          fmt::format("note: some launches of '{}' are left out: {}", kernel.name, reason));
}

} // namespace

std::string pointeeOf(const KernelParam &param, std::size_t at) {
  if (param.kind == ParamKind::Pointer)
    return param.scalar;
  const std::vector<std::string_view> words = runtime::protocol::split(param.scalar, ' ');
  for (std::size_t i = 1; words[0] == "pointers" && i + 1 < words.size(); i += 2)
    if (words[i] == std::to_string(at))
      return std::string(words[i + 1]);
  return {};
}

Status checkPrograms(const ObservedTrace &trace, std::string &note) {
  for (const trace::ProcessTrace &process : trace.processes) {
    const fs::path program = process.info.program;
    if (process.info.programHash.empty() || !isThere(program)) {
      note = fmt::format("note: {} is not on this machine, so kopt did not check that it is still "
                         "the program of this trace",
                         program.string());
      continue;
    }
    KOPT_TRY(const MappedFile file, MappedFile::open(program));
    if (hashHex(file.bytes()) != process.info.programHash)
      return makeError(
          ErrorCode::StaleInput,
          fmt::format("{} has changed since this trace was recorded", program.string()),
          "observe the program again", trace.folder.string());
  }
  return {};
}

std::optional<PointerWord> pointerTo(const Launch &launch, std::uint64_t address) {
  std::optional<PointerWord> end;
  for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
    const std::uint64_t offset = address - launch.buffers[i].address;
    if (offset < launch.buffers[i].bytes)
      return PointerWord{0, i, offset};
    if (offset == launch.buffers[i].bytes)
      end = PointerWord{0, i, offset};
  }
  return end;
}

bool isLaunched(const ObservedTrace &trace, const Specialization &specialization) {
  return findKernel(rankKernels(trace), specialization) != nullptr;
}

Result<TraceWorkload> workloadFromTrace(const ObservedTrace &trace, const KernelSpec &kernel,
                                        const Specialization &specialization,
                                        const TuneDeclaration &declaration, DeviceKind device,
                                        std::size_t most) {
  KOPT_CHECK(checkLaunchable(kernel, specialization, device));
  const std::vector<KernelUse> kernels = rankKernels(trace);
  const KernelUse *use = findKernel(kernels, specialization);
  if (!use) {
    std::vector<std::string> names;
    for (const KernelUse &other : kernels)
      names.push_back(kernelName(other.symbol));
    return makeError(ErrorCode::Usage,
                     fmt::format("the program never launched '{}'", specialization.expression),
                     "it launched: " + join(names, ", "), placeOf(kernel));
  }
  KOPT_CHECK(checkSignature(trace, *use, kernel, specialization));

  TraceWorkload made;
  made.workload.kernel = kernel.name;
  made.workload.symbol = specialization.symbol;
  made.workload.tolerance = declaration.tolerance;
  const Replayable found = replayableLaunches(trace, *use, kernel, specialization, made.captured);
  if (made.captured.empty())
    return makeError(ErrorCode::Usage,
                     fmt::format("no launch of '{}' in this trace can be replayed", kernel.name),
                     "because: " + join({found.reasons.begin(), found.reasons.end()}, "; "),
                     placeOf(kernel));

  const Selection selection =
      chooseRepresentatives(*use, most, kCoverage, [&](const LaunchRef &ref) {
        return found.captured.contains({ref.process, ref.launch});
      });
  made.coverage = selection.coverage;
  for (const Representative &one : selection.chosen)
    made.launches += double(use->classes[one.index].launches.size());
  for (const Representative &one : selection.chosen) {
    const auto take = [&](const LaunchRef &ref, const std::string &suffix) {
      CapturedLaunch &captured = made.captured[found.captured.at({ref.process, ref.launch})];
      LaunchClass kind = use->classes[one.index];
      if (kind.merged > 1) { // its launches have different geometries
        const trace::Launch &launch = trace.processes[ref.process].launches[ref.launch];
        kind.grid = launch.grid;
        kind.block = launch.block;
        kind.sharedBytes = launch.sharedBytes;
        kind.seconds = ref.seconds * double(kind.launches.size());
      }
      captured.launch.name =
          fmt::format("{} (launch {}{})", kind.describe(), captured.ordinal, suffix);
      captured.launch.weight = double(kind.launches.size()) /
                               made.launches; // the judge turns weights into shares of the time
      if (kind.seconds > 0)
        made.programSeconds[captured.launch.name] = kind.seconds / double(kind.launches.size());
      return captured.launch;
    };
    made.workload.launches.push_back(take(one.launch, ""));
    if (one.heldOut)
      made.heldOut.push_back(take(*one.heldOut, ", held out"));
  }
  for (CapturedLaunch &captured : made.captured)
    if (captured.launch.name.empty())
      captured.launch.name = fmt::format("launch {}", captured.ordinal);
  addNotes(kernel, found, made);
  return made;
}

} // namespace kopt
