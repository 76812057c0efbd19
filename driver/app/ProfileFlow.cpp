// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ProfileFlow.h"
#include "driver/device/build/Toolchains.h"
#include "driver/diagnose/Known.h"
#include "driver/diagnose/RuleBook.h"
#include "driver/judge/CandidateBuilder.h"
#include "driver/source/CompilerMessages.h"
#include "driver/source/RenderSlice.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/ScalarArguments.h"

#include "driver/app/ObserveFlow.h"
#include "driver/device/build/PtxasInfo.h"
#include "driver/source/SliceLines.h"
#include "driver/support/Text.h"
#include "driver/workload/observed/SubjectWorkload.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

namespace fs = std::filesystem;

constexpr const char *kModuleName = "kopt-profiled.cubin";
/// The file names of the slice that nvcc and emulated modules record.
constexpr const char *kSliceName = "kopt-profiled.cubin.cu", *kEmulatedSlice = "slice.cu";

/// The launch with this name. Without a name, the launch with the most weight; if several have it,
/// the one with the most threads.
Result<const Launch *> chooseLaunch(const Workload &workload, const std::string &name) {
  std::vector<std::string> names;
  const Launch *chosen = nullptr;
  for (const Launch &launch : workload.launches) {
    names.push_back(launch.name);
    const bool isHeavier =
        !chosen || launch.weight > chosen->weight ||
        (launch.weight == chosen->weight && launch.threads() > chosen->threads());
    if (name.empty() ? isHeavier : launch.name == name)
      chosen = &launch;
  }
  if (chosen)
    return chosen;
  const std::string guess = didYouMean(name, names);
  return makeError(
      ErrorCode::Usage,
      fmt::format("the workload of '{}' has no launch '{}'", workload.kernel, name),
      fmt::format("{}{}there are: {}", guess, guess.empty() ? "" : " ", join(names, ", ")));
}

/// Makes the report of one kernel.
class Profiler {
public:
  Profiler(Services &services, Workbench &bench, const ProfileRequest &request,
           const TuneSubject &subject)
      : services_(services), bench_(bench), request_(request), subject_(subject) {}

  Result<ProfileReport> profile(const Workload &workload, const Candidate &candidate) {
    KOPT_TRY(const RuleBook rules, RuleBook::load());
    report_.label = subject_.label;
    report_.file = subject_.kernel.file;
    report_.line = subject_.kernel.line;
    report_.device = bench_.device();
    report_.sandbox = bench_.layers();
    for (const Launch &launch : workload.launches)
      report_.launches.push_back(launch.name);
    KOPT_TRY(const Launch *chosen, chooseLaunch(workload, request_.launch));
    KOPT_TRY(report_.launch, applyToLaunch(subject_.kernel, *chosen, candidate));
    KOPT_TRY(rendered_, renderSlice(subject_, candidate));
    if (request_.accesses) {
      KOPT_CHECK(readAccesses());
      return std::move(report_);
    }

    KOPT_TRY(const BuildOutcome built, build(bench_.compiler(), "run"));
    if (!built.ok)
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("kernel '{}' does not build", subject_.label),
                       compilerHint(built.log, nullptr), placeOf(subject_.kernel));
    KOPT_TRY(const ModuleInfo module, bench_.runner().load(built.module, symbol_));
    KOPT_CHECK(measure(module.id));
    if (bench_.device().modelled)
      KOPT_CHECK(readCodeBuiltApart());
    else
      KOPT_CHECK(readCode(built));
    bench_.runner().unload(module.id);
    const auto model =
        bench_.frontend().modelOf(rendered_.text, rendered_.expression, subject_.kernel, {});
    report_.diagnosis =
        rules.diagnose(report_.profile.counters, knownOf(report_.launch, subject_.specialization,
                                                         model ? model->uses : std::nullopt));
    rules.putBlamedFirst(report_.diagnosis, report_.stalls);
    if (report_.ncu)
      for (NcuReport::Advice &advice : report_.ncu->advice)
        advice.agrees = rules.agreeing(report_.diagnosis, advice);
    return std::move(report_);
  }

  Result<MachineCode> code(const Candidate &candidate) {
    KOPT_TRY(rendered_, renderSlice(subject_, candidate));
    KOPT_TRY(const auto nvcc, makeNvccToolchain(services_.processes, services_.installation.cuda,
                                                bench_.compilers()));
    KOPT_TRY(const BuildOutcome built, build(*nvcc, "code"));
    KOPT_TRY(const SliceLines lines, placesOfLines());
    if (!built.ok)
      return makeError(ErrorCode::BaselineFailed, fmt::format("{} does not build the kernel: {}",
                                                              nvcc->name(), lines.tell(built.log)));
    MachineCode code{arch(), parsePtxasInfo(built.log, subject_.specialization.symbol),
                     disassembler().list(built.module), ""};
    if (code.listing) {
      code.symbol = symbolIn(*code.listing, subject_.specialization.symbol);
      KOPT_CHECK(tellUserLines(*code.listing));
    }
    return code;
  }

private:
  Disassembler disassembler() const {
    return {services_.processes, services_.installation.cuda.nvdisasm, bench_.compilers()};
  }
  std::string arch() const { return request_.arch.empty() ? bench_.device().arch : request_.arch; }

  Result<BuildOutcome> build(Toolchain &toolchain, const char *folder) {
    services_.terminal.status(
        fmt::format("{}: building it ({})", subject_.label, toolchain.name()));
    BuildRequest request = CandidateBuilder::requestOf(
        subject_, arch(), rendered_,
        bench_.scratch() / "evaluate" /
            fmt::format("profile-{}", subject_.specialization.symbol.substr(0, 100)) / folder /
            kModuleName);
    if (toolchain.kind() == ToolchainKind::Nvcc) {
      if (std::none_of(request.flags.begin(), request.flags.end(), [](const std::string &flag) {
            return flag == "-lineinfo" || flag == "--generate-line-info";
          }))
        request.flags.push_back("-lineinfo"); // does not change the instructions
      request.flags.push_back("-Xptxas=-v");
    }
    KOPT_CHECK(createDirectories(request.output.parent_path()));
    symbol_ = request.symbol;
    return toolchain.build(request);
  }

  Status measure(ModuleId module) {
    services_.terminal.status(
        fmt::format("{}: profiling launch {}", subject_.label, report_.launch.name));
    RunOptions options;
    options.deadline = Duration(120);
    KOPT_TRY(report_.profile, bench_.runner().profile(module, report_.launch, options));
    if (report_.profile.status != RunStatus::Ok)
      return makeError(ErrorCode::BaselineFailed,
                       fmt::format("launch '{}' of kernel '{}' does not run through: {}",
                                   report_.launch.name, subject_.label, report_.profile.detail),
                       request_.candidate.empty() ? "" : "'kopt trial' says more of a candidate",
                       placeOf(subject_.kernel));
    if (!report_.profile.detail.empty())
      report_.missing.push_back(std::exchange(report_.profile.detail, ""));
    if (!report_.profile.lines.empty()) {
      report_.executed = hottestLines(report_.profile.lines, LineSource::Emulated);
      report_.executed.launch = report_.launch.name;
      KOPT_TRY(const SliceLines lines, placesOfLines());
      lines.tell(report_.executed, rendered_.text, kEmulatedSlice);
    }
    if (bench_.device().modelled)
      report_.missing.push_back("hardware counters: the device is emulated, and its counters and "
                                "times are a model's; a GPU has its own");
    if (!request_.ncu)
      return {};
    services_.terminal.status(
        fmt::format("{}: Nsight Compute watches launch {}", subject_.label, report_.launch.name));
    KOPT_TRY(report_.ncu,
             bench_.runner().inspect(module, report_.launch, request_.sections, options));
    if (!report_.ncu->detail.empty())
      report_.missing.push_back(fmt::format(
          "Nsight Compute's {}: {}",
          report_.ncu->ran ? "counts by instruction" : "sections and advice", report_.ncu->detail));
    return {};
  }

  Status readAccesses() {
    services_.terminal.status(fmt::format("{}: reading its accesses", subject_.label));
    Workload chosen;
    chosen.launches = {report_.launch};
    KOPT_TRY(const ModelReply model,
             bench_.frontend().modelOf(rendered_.text, rendered_.expression, subject_.kernel,
                                       launchShapesOf(subject_.specialization, chosen)));
    KOPT_TRY(const SliceLines lines, placesOfLines());
    for (const ModelLine &access : model.accesses) {
      const auto place = lines.at(access.line);
      report_.accesses.push_back(
          {place ? SourceFrame{place->file, place->line} : SourceFrame(), access.text});
    }
    return {};
  }

  /// Builds the kernel with nvcc, if there is one, to show the machine code that a GPU would run:
  /// the emulated device runs none.
  Status readCodeBuiltApart() {
    const auto nvcc =
        makeNvccToolchain(services_.processes, services_.installation.cuda, bench_.compilers());
    if (!nvcc) {
      report_.missing.push_back("machine code (instruction mix, spills, its lines): " +
                                inWords(nvcc.error()));
      return {};
    }
    KOPT_TRY(const BuildOutcome built, build(**nvcc, "code"));
    if (built.ok)
      return readCode(built);
    report_.missing.push_back(fmt::format(
        "machine code (instruction mix, spills, its lines): {} does not build the kernel: {}",
        (*nvcc)->name(), built.log.substr(0, built.log.find('\n'))));
    return {};
  }

  Status readCode(const BuildOutcome &built) {
    services_.terminal.status(fmt::format("{}: reading its machine code", subject_.label));
    Result<SassListing> listing = disassembler().list(built.module);
    const std::string symbol = listing ? symbolIn(*listing, subject_.specialization.symbol)
                                       : subject_.specialization.symbol;
    const Counters facts = parsePtxasInfo(built.log, symbol);
    report_.profile.counters.insert(facts.begin(), facts.end());
    if (!listing) {
      report_.missing.push_back("instruction mix and lines of the machine code: " +
                                inWords(listing.error()));
      return {};
    }
    const Counters counters = sassCounters(*listing, symbol);
    if (counters.empty()) {
      report_.missing.push_back(
          "instruction mix and lines of the machine code: the listing of the machine code "
          "does not have the kernel");
      return {};
    }
    report_.profile.counters.insert(counters.begin(), counters.end());
    report_.codeArch = arch();
    KOPT_CHECK(tellUserLines(*listing));
    report_.lines =
        linesOf(*listing, symbol, report_.ncu ? report_.ncu->instructions : InstructionCounts{});
    if (report_.ncu)
      report_.stalls = stallSlices(*listing, symbol, report_.ncu->instructions);
    return {};
  }

  Result<SliceLines> placesOfLines() const {
    return SliceLines::make(rendered_.text, rendered_.chunks, subject_.specialization,
                            request_.candidate.string(), rendered_.declarations);
  }

  /// Replaces lines of the slice by lines of the user's files.
  Status tellUserLines(SassListing &listing) {
    KOPT_TRY(const SliceLines lines, placesOfLines());
    for (SassFunction &function : listing.functions)
      for (SassInstruction &instruction : function.instructions)
        for (SourceFrame &frame : instruction.frames)
          if (fs::path(frame.file).filename() == kSliceName) {
            const auto place = lines.at(frame.line);
            frame.file = place ? place->file : "(made by kopt)";
            frame.line = place ? place->line : 0;
          }
    return {};
  }

  Services &services_;
  Workbench &bench_;
  const ProfileRequest &request_;
  const TuneSubject &subject_;
  RenderedSlice rendered_;
  std::string symbol_; ///< to load; empty if the slice has only this kernel, under another name
  ProfileReport report_;
};

} // namespace

Result<MachineCode> machineCode(Services &services, Workbench &bench, const ProfileRequest &request,
                                const TuneSubject &subject, const Candidate &candidate) {
  return Profiler(services, bench, request, subject).code(candidate);
}

Result<ProfileReport> profileKernel(Services &services, Workbench &bench,
                                    const ProfileRequest &request, const TuneSubject &subject,
                                    const Workload &workload, const Candidate &candidate) {
  KOPT_TRY(ProfileReport report,
           Profiler(services, bench, request, subject).profile(workload, candidate));
  if (request.candidate.empty() || request.accesses)
    return report;
  ProfileRequest plain = request;
  plain.ncu = false;
  KOPT_TRY(const ProfileReport before,
           Profiler(services, bench, plain, subject).profile(workload, Candidate()));
  report.contrast = contrastOf({{"candidate", report.profile.counters, report.diagnosis},
                                {"original", before.profile.counters, before.diagnosis}});
  return report;
}

Result<std::vector<ProfileReport>> profileFile(Services services, const ProfileRequest &request) {
  KOPT_TRY(const std::unique_ptr<Workbench> bench, Workbench::open(services, request));
  std::optional<CandidateFile> changed;
  if (!request.candidate.empty()) {
    KOPT_TRY(changed, bench->readCandidate(request.candidate, request.arch));
    if (changed->compileError)
      return tl::unexpected(*changed->compileError);
  }
  std::optional<ObservedTrace> observed;
  if (!request.program.empty()) {
    KOPT_TRY(observed, programTrace(services, bench->programs(), request.root, request.program,
                                    bench->subjects()));
  }
  std::vector<ProfileReport> reports;
  for (const TuneSubject &subject : bench->subjects()) {
    KOPT_TRY(const SubjectWorkload workload, workloadOf(subject, observed, bench->device().kind));
    for (const std::string &note : workload.notes)
      services.terminal.line(note);
    FileCandidate made;
    if (changed) {
      KOPT_TRY(made, candidateFromFile(subject, bench->extraction(), *changed));
      if (!made.refusal.empty())
        return makeError(ErrorCode::StaleInput, made.refusal, {}, changed->path.string());
    }
    KOPT_TRY(ProfileReport report,
             profileKernel(services, *bench, request, subject, workload.workload, made.candidate));
    reports.push_back(std::move(report));
  }
  services.terminal.clear();
  return reports;
}

} // namespace kopt
