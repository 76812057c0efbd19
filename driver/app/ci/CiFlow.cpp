// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ci/CiFlow.h"

#include "driver/app/executor/OpenDevices.h"
#include "driver/app/executor/RemoteExecutor.h"
#include "driver/app/integrate/CheckFlow.h"
#include "driver/compare/versions/BaseCommands.h"
#include "driver/compare/versions/TouchedKernels.h"
#include "driver/compare/versions/VersionBench.h"
#include "driver/device/build/Toolchains.h"
#include "driver/source/KernelNames.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

namespace {

fs::path realPath(const fs::path &path) {
  std::error_code ignored;
  return fs::weakly_canonical(path, ignored);
}

/// True for a file that others may include: its removal may change what they read.
bool mayBeIncluded(const std::string &path) {
  static const std::set<std::string> kNames = {".h",   ".hh",  ".hpp", ".hxx", ".cuh", ".inl",
                                               ".inc", ".ipp", ".def", ".cu",  ""};
  return kNames.contains(fs::path(path).extension().string());
}

bool isBuildFile(const std::string &path) {
  const fs::path name = fs::path(path).filename();
  return name == "CMakeLists.txt" || name == "CMakePresets.json" || name == "Makefile" ||
         name.extension() == ".cmake";
}

std::string sentenceOf(const Error &error) {
  return (error.where.empty() ? "" : error.where + ": ") + error.what;
}

/// One version of the project, as the front end read it.
struct Version {
  SourceSettings sources{};
  ExtractionResult found{};
  std::optional<ExtractionResult> proven{}; ///< with proven slices, if a GPU needs them
  std::vector<std::string> problems{};      ///< files that do not compile
};

/// What compares two versions of a kernel, once opened.
struct Bench {
  Contained contained;
  std::unique_ptr<Toolchain> nvcc; ///< if the device uses another compiler, or there is none
  OpenDevices devices;             ///< empty in a dry run
  std::optional<VersionBench> versions;
  std::unique_ptr<RemoteExecutor> hosts; ///< that compare, in its place
  JudgeOptions options;                  ///< for them
};

/// Compares two versions, from the diff to the report.
class Gate {
public:
  Gate(const Services &services, const CiRequest &request, Repository repository, fs::path scratch)
      : services_(services), request_(request), repository_(std::move(repository)),
        scratch_(std::move(scratch)) {}

  Result<GateReport> run() {
    KOPT_CHECK(findChange());
    KOPT_CHECK(readHead());
    if (isTouched()) {
      KOPT_CHECK(readBase());
      KOPT_TRY(TouchedKernels touched, touchedKernels(*reader_, version(true), version(false)));
      narrow(touched);
      report_.unchanged = touched.unchanged;
      KOPT_CHECK(compare(touched));
    } else {
      report_.unchanged = countKernels(head_.found);
    }
    KOPT_CHECK(checkVariants());
    nameFilesAsInTheRepository();
    services_.terminal.clear();
    return std::move(report_);
  }

private:
  /// Shortens absolute paths in messages of compilers and of the judge, because the folders are
  /// removed later.
  void nameFilesAsInTheRepository() {
    const auto tidy = [&](std::string &text) {
      text = replaceAll(std::move(text), trees_->base().string() + "/", "");
      text = replaceAll(std::move(text), trees_->head().string() + "/", "");
    };
    std::ranges::for_each(report_.notes, tidy);
    for (GateKernel &kernel : report_.kernels) {
      tidy(kernel.reason);
      std::ranges::for_each(kernel.notes, tidy);
    }
  }

  Status findChange() {
    report_.name = request_.name;
    report_.baseRef = request_.base;
    report_.isDryRun = request_.dryRun;
    report_.minChange = request_.options.policy.minGain;
    KOPT_TRY(report_.head, repository_.head());
    KOPT_TRY(report_.base, repository_.mergeBase(request_.base));
    KOPT_TRY(report_.isDirty, repository_.isDirty());
    KOPT_TRY(changes_, repository_.changes(report_.base));
    std::map<std::string, std::string> renamed;
    for (const ChangedFile &file : changes_)
      if (file.status == 'R')
        renamed[file.path] = file.oldPath;
    trees_.emplace(repository_.top(), scratch_ / "base", std::move(renamed));
    for (const ChangedFile &file : changes_)
      if (isBuildFile(file.path)) {
        report_.notes.push_back(fmt::format(
            "{} changed: both versions are compiled with the commands of the head, so what a "
            "compile flag does is not seen",
            file.path));
        break;
      }
    return {};
  }

  /// Reads all files of the head, and finds those that may have changed.
  Status readHead() {
    services_.terminal.status("reading the sources");
    const LoggedStage logged("read the sources of the head");
    std::size_t outside = 0;
    SourceSettings sources = request_.sources;
    sources.files.clear();
    for (const fs::path &file : request_.sources.files)
      if (const fs::path real = realPath(file); trees_->inHead(real).empty())
        ++outside;
      else if (std::ranges::find(sources.files, real) == sources.files.end())
        sources.files.push_back(real);
    if (outside > 0)
      report_.notes.push_back(counted(outside, "file outside of the repository is left out",
                                      "files outside of the repository are left out"));
    if (sources.files.empty())
      return makeError(ErrorCode::Usage, "none of the files lies in the repository",
                       "give .cu files of " + repository_.top().string());
    KOPT_TRY(reader_, openFrontend(services_));
    KOPT_TRY(head_.found, extract(sources, "head", false, {}));
    noteLeftOut(head_.found, "head");
    KOPT_CHECK(findUnits(sources));
    head_.sources = sources;
    head_.sources.files = units_;
    if (!units_.empty() && units_.size() < sources.files.size()) {
      const std::size_t all = countKernels(head_.found);
      KOPT_TRY(head_.found, extract(head_.sources, "head", false, {}));
      elsewhere_ = all - std::min(all, countKernels(head_.found));
    }
    return {};
  }

  Result<ExtractionResult> extract(const SourceSettings &sources, const std::string &folder,
                                   bool prove, const std::vector<std::string> &symbols) {
    ExtractRequest request = extractRequest(sources, scratch_ / (folder + "-slices"));
    request.project = &sources == &base_.sources ? trees_->base() : repository_.top();
    request.prove = prove;
    request.proveOnly = symbols;
    return reader_->extract(request);
  }

  void noteLeftOut(const ExtractionResult &found, const std::string &version) {
    for (const ExtractionNote &note : found.notes)
      if (note.kind == NoteKind::FileLeftOut)
        report_.notes.push_back(fmt::format("{}: {}", version, note.text));
  }

  /// Finds the compiled files that the change affects. A file whose inputs are unchanged has
  /// unchanged kernels.
  Status findUnits(const SourceSettings &all) {
    std::set<std::string> changed;
    bool isAny = false;
    for (const ChangedFile &file : changes_) {
      changed.insert((repository_.top() / file.path).string());
      const std::string gone = file.status == 'D' ? file.path : file.oldPath;
      isAny |= !gone.empty() && mayBeIncluded(gone);
    }
    const auto readsChanged = [&](const ExtractionResult &found) {
      const auto isChanged = [&](const auto &read) {
        return changed.contains(realPath(read.first).string());
      };
      return std::ranges::any_of(found.fileHashes, isChanged) ||
             std::ranges::any_of(found.kernels, [&](const KernelSpec &kernel) {
               return std::ranges::any_of(kernel.projectFiles, isChanged);
             });
    };
    if (isAny) {
      units_ = all.files;
    } else if (readsChanged(head_.found)) {
      for (const fs::path &file : all.files) {
        SourceSettings one = all;
        one.files = {file};
        if (all.files.size() > 1) {
          const auto found = extract(one, "unit", false, {});
          if (found && !readsChanged(*found))
            continue;
        }
        units_.push_back(file);
      }
    }
    return {};
  }

  bool isTouched() const { return !units_.empty(); }

  static std::size_t countKernels(const ExtractionResult &found) {
    return std::size_t(
        std::ranges::count_if(instancesIn(found), [](const KernelInstance &instance) {
          return instance.specialization && instance.kernel->defined;
        }));
  }

  Status checkOutBase() {
    if (!isThere(trees_->base())) {
      services_.terminal.status("checking out the base");
      KOPT_CHECK(repository_.checkOut(report_.base, trees_->base()));
    }
    return {};
  }

  /// Makes compile commands, from those of the head, for each file of the base that may contain one
  /// of the kernels.
  Result<std::vector<CompileCommand>> baseCommands() {
    std::vector<CompileCommand> known;
    if (!head_.sources.buildDirectory.empty()) {
      const fs::path given = head_.sources.buildDirectory;
      KOPT_TRY(known, readCompileCommands(given.filename() == "compile_commands.json"
                                              ? given
                                              : given / "compile_commands.json"));
      for (CompileCommand &command : known)
        command.file = realPath(command.file);
    } else {
      for (const fs::path &file : head_.sources.files) {
        CompileCommand command{fs::current_path(), file, {"nvcc"}};
        command.arguments.insert(command.arguments.end(), head_.sources.flags.begin(),
                                 head_.sources.flags.end());
        command.arguments.insert(command.arguments.end(), {"-c", file.string()});
        known.push_back(std::move(command));
      }
    }
    std::vector<CompileCommand> commands;
    std::set<fs::path> have;
    const auto add = [&](const CompileCommand &command, const fs::path &file) -> Status {
      KOPT_TRY(CompileCommand own, commandInBase(command, *trees_, file));
      commands.push_back(std::move(own));
      have.insert(file);
      return {};
    };
    for (const CompileCommand &command : known)
      if (std::ranges::find(units_, command.file) != units_.end())
        if (const fs::path file = trees_->counterpart(command.file); !file.empty())
          KOPT_CHECK(add(command, file));
    // A kernel may come from a file that was removed. Compile that file like its neighbours.
    for (const ChangedFile &change : changes_) {
      const std::string gone = change.status == 'D' ? change.path : change.oldPath;
      const fs::path file = trees_->base() / gone;
      if (gone.empty() || fs::path(gone).extension() != ".cu" || have.contains(file) ||
          !isThere(file))
        continue;
      const auto neighbour = std::ranges::find_if(known, [&](const CompileCommand &command) {
        return trees_->inHead(command.file.parent_path()) ==
               fs::path(gone).parent_path().generic_string();
      });
      if (!known.empty())
        KOPT_CHECK(add(neighbour == known.end() ? known.front() : *neighbour, file));
    }
    return commands;
  }

  Status readBase() {
    KOPT_CHECK(checkOutBase());
    const LoggedStage logged("read the sources of the base");
    services_.terminal.status("reading the sources of the base");
    KOPT_TRY(const std::vector<CompileCommand> commands, baseCommands());
    base_.sources.buildDirectory = scratch_ / "base-commands";
    base_.sources.wholeDatabase = true;
    base_.sources.command = head_.sources.command;
    for (const CompileCommand &command : commands)
      if (std::ranges::find(base_.sources.files, command.file) == base_.sources.files.end())
        base_.sources.files.push_back(command.file);
    KOPT_CHECK(writeFileAtomically(base_.sources.buildDirectory / "compile_commands.json",
                                   formatCompileCommands(commands)));
    if (base_.sources.files.empty())
      return {}; // all files are new in the head
    auto found = extract(base_.sources, "base", false, {});
    if (found) {
      base_.found = std::move(*found);
      noteLeftOut(base_.found, "base");
      for (const ExtractionNote &note : base_.found.notes)
        if (note.kind == NoteKind::FileLeftOut)
          base_.problems.push_back(note.text);
    } else if (found.error().code == ErrorCode::BaselineFailed) {
      base_.problems.push_back(sentenceOf(found.error()));
      report_.notes.push_back("base: " + base_.problems.back());
    } else {
      return tl::unexpected(found.error());
    }
    return {};
  }

  ProjectVersion version(bool isBase) const {
    return {isBase ? base_.found : head_.found, [this, isBase](const fs::path &path) {
              const std::string name =
                  isBase ? trees_->fromBase(path) : trees_->inHead(realPath(path));
              return name.empty() ? path.string() : name;
            }};
  }

  /// Removes kernels that --kernel does not name.
  void narrow(TouchedKernels &touched) const {
    if (request_.selection.globs.empty())
      return;
    std::erase_if(touched.kernels, [&](const TouchedKernel &kernel) {
      const KernelInstance &instance = kernel.head ? *kernel.head : *kernel.base;
      return std::ranges::none_of(request_.selection.globs, [&](const std::string &glob) {
        return namesKernel(glob, *instance.kernel, instance.specialization);
      });
    });
  }

  GateKernel describe(const TouchedKernel &touched) const {
    GateKernel kernel;
    kernel.change = touched.change;
    const KernelInstance &shown = touched.head ? *touched.head : *touched.base;
    kernel.kernel = shown.specialization->expression;
    kernel.symbol = shown.specialization->symbol;
    kernel.place = {touched.head ? trees_->inHead(realPath(shown.kernel->file))
                                 : trees_->fromBase(shown.kernel->file),
                    shown.kernel->line};
    if (touched.base) {
      kernel.baseName = touched.base->specialization->expression;
      kernel.baseFile =
          touched.base->kernel->file.empty()
              ? ""
              : fs::path(touched.base->kernel->file).lexically_relative(trees_->base()).string();
    }
    switch (touched.change) {
    case KernelChange::Moved:
      kernel.verdict = GateVerdict::Same;
      kernel.reason = "it only moved";
      break;
    case KernelChange::Added:
      kernel.reason = "it is new: there is nothing to compare it with";
      // A file that could not be read may have contained the kernel.
      if (!base_.problems.empty() && !trees_->counterpart(realPath(shown.kernel->file)).empty()) {
        kernel.change = KernelChange::Modified;
        kernel.reason = "the base's version was not found, as a file does not compile: " +
                        base_.problems.front();
      }
      break;
    case KernelChange::Removed:
      kernel.reason = "it was removed";
      break;
    default:
      break;
    }
    return kernel;
  }

  Status compare(const TouchedKernels &touched) {
    report_.unchanged += elsewhere_;
    std::vector<const TouchedKernel *> both;
    for (const TouchedKernel &kernel : touched.kernels)
      if (kernel.base && kernel.head && kernel.change != KernelChange::Moved)
        both.push_back(&kernel);
    KOPT_CHECK(openBench(both));
    for (const TouchedKernel &kernel : touched.kernels) {
      if (services_.interrupted && *services_.interrupted)
        return makeError(ErrorCode::Interrupted, "interrupted");
      GateKernel result = describe(kernel);
      if (std::ranges::find(both, &kernel) != both.end())
        KOPT_CHECK(compareVersions(kernel, result));
      report_.kernels.push_back(std::move(result));
    }
    return {};
  }

  /// Opens the device and, for a GPU, proves slices of the kernels that both versions have.
  Status openBench(const std::vector<const TouchedKernel *> &both) {
    if (both.empty())
      return {};
    std::vector<fs::path> readable;
    for (const Version *one : {&head_, &base_})
      for (const auto &[file, hash] : one->found.fileHashes)
        readable.emplace_back(file);
    if (request_.executor.choice.kind != ExecutorKind::Local && !request_.dryRun) {
      KOPT_TRY(bench_.hosts, RemoteExecutor::open(services_, request_.executor));
      bench_.hosts->useFiles(readable);
      bench_.options = request_.options;
      if (bench_.options.arch.empty())
        bench_.options.arch = bench_.hosts->device().arch;
      report_.device = bench_.hosts->device().name;
      report_.modelled = bench_.hosts->device().modelled;
      return prove(both);
    }
    KOPT_TRY(bench_.contained, openContained(services_, request_.sandbox, std::move(readable)));
    const CudaToolkit &cuda = services_.installation.cuda;
    if (cuda.nvcc) {
      KOPT_TRY(bench_.nvcc,
               makeNvccToolchain(services_.processes, cuda, bench_.contained.compilers));
    }
    BenchServices services{*bench_.contained.frontend};
    JudgeOptions options = request_.options;
    if (request_.dryRun) {
      services.device.kind =
          request_.device.kind == DeviceKind::Emulated ? DeviceKind::Emulated : DeviceKind::Cuda;
      // Nothing runs, so any architecture can show whether the code is the same.
      if (options.arch.empty())
        options.arch = "sm_80";
    } else {
      KOPT_TRY(bench_.devices, openDevices(services_, request_.device, {0}, scratch_,
                                           bench_.contained, request_.buildCache));
      services.runner = &bench_.devices.runner();
      services.toolchain = bench_.devices.toolchain.get();
      services.device = bench_.devices.device();
      if (!services.device.modelled)
        bench_.nvcc.reset();
      if (options.arch.empty())
        options.arch = services.device.arch;
    }
    services.nvcc = bench_.nvcc.get();
    services.scratch = scratch_;
    services.tell = [this](const std::string &text) { services_.terminal.status(text); };
    report_.device = services.device.name;
    report_.modelled = services.device.modelled;
    bench_.versions.emplace(std::move(services), std::move(options));
    return prove(both);
  }

  Status prove(const std::vector<const TouchedKernel *> &both) {
    // On the emulated device both slices are compiled by the same compiler, proven or not.
    if (!canProve(services_) || request_.dryRun || report_.modelled)
      return {};
    services_.terminal.status("proving that the kernels can be built alone");
    std::vector<std::string> headSymbols, baseSymbols;
    for (const TouchedKernel *kernel : both) {
      headSymbols.push_back(kernel->head->specialization->symbol);
      baseSymbols.push_back(kernel->base->specialization->symbol);
    }
    KOPT_TRY(head_.proven, extract(head_.sources, "head-proven", true, headSymbols));
    KOPT_TRY(base_.proven, extract(base_.sources, "base-proven", true, baseSymbols));
    return {};
  }

  static Result<TuneSubject> subjectOf(const KernelInstance &instance, const Version &version,
                                       const std::vector<KernelClauses> &clauses) {
    const SelectionRequest selection{{}, clauses, {}};
    if (version.proven)
      for (const KernelInstance &other : instancesIn(*version.proven))
        if (other.specialization &&
            other.specialization->symbol == instance.specialization->symbol &&
            other.kernel->file == instance.kernel->file)
          return makeSubject(*version.proven, other, selection);
    return makeSubject(version.found, instance, selection);
  }

  Status compareVersions(const TouchedKernel &touched, GateKernel &kernel) {
    if (!baseClauses_) {
      baseClauses_.emplace();
      auto clauses = request_.baseClauses ? request_.baseClauses(trees_->base(), trees_->head())
                                          : std::vector<KernelClauses>{};
      if (clauses)
        baseClauses_ = std::move(*clauses);
      else
        report_.notes.push_back("base: " + sentenceOf(clauses.error()));
    }
    const auto head = subjectOf(*touched.head, head_, request_.selection.clauses);
    const auto base = subjectOf(*touched.base, base_, *baseClauses_);
    if (!head || !base) {
      const Error &error = head ? base.error() : head.error();
      kernel.reason =
          fmt::format("the {}'s version cannot be measured: {}{}", head ? "base" : "head",
                      error.where.empty() ? "" : error.where + ": ", inWords(error));
      return {};
    }
    if (bench_.hosts)
      return bench_.hosts->compareVersions(*base, *head, touched.sameLaunches, bench_.options,
                                           kernel);
    return bench_.versions->compare(*base, *head, touched.sameLaunches, kernel);
  }

  /// Finds variants of the header mode that no longer apply in this working tree.
  Status checkVariants() {
    if (!isThere(request_.lockFolder / "kopt.lock"))
      return {};
    const fs::path build = request_.sources.buildDirectory;
    KOPT_TRY(const std::vector<TunedKernel> now, checkLock(request_.lockFolder, build));
    if (std::ranges::none_of(now,
                             [](const TunedKernel &one) { return one.state == TunedState::Stale; }))
      return {};
    std::set<std::string> tunedBefore;
    const std::string folder = trees_->inHead(realPath(request_.lockFolder));
    if (!folder.empty()) {
      KOPT_CHECK(checkOutBase());
      if (const auto before = checkLock(trees_->base() / folder, build))
        for (const TunedKernel &one : *before)
          if (one.state != TunedState::Stale)
            tunedBefore.insert(one.kernel + "|" + one.run);
    }
    for (const TunedKernel &one : now) {
      if (one.state != TunedState::Stale)
        continue;
      GateVariant variant;
      variant.kernel = one.kernel;
      variant.isNew = tunedBefore.contains(one.kernel + "|" + one.run);
      if (!one.changes.empty()) {
        const overlay::Change &change = one.changes.front();
        const std::string file = trees_->inHead(realPath(change.file));
        variant.place = {file.empty() ? change.file : file, change.line};
        variant.what = change.what;
      }
      report_.variants.push_back(std::move(variant));
    }
    return {};
  }

  Services services_;
  const CiRequest &request_;
  Repository repository_;
  fs::path scratch_;
  GateReport report_;
  std::vector<ChangedFile> changes_;
  std::optional<TreePair> trees_;
  std::unique_ptr<Frontend> reader_;
  Version head_, base_;
  std::vector<fs::path> units_; ///< files of the head that the change affects
  std::size_t elsewhere_ = 0;   ///< kernels in the other files of the head
  std::optional<std::vector<KernelClauses>> baseClauses_;
  Bench bench_;
};

} // namespace

Result<GateReport> runGate(const Services &services, const CiRequest &request) {
  KOPT_TRY(Repository repository, Repository::open(services.processes, request.root));
  KOPT_TRY(const TemporaryDirectory scratch, TemporaryDirectory::create("kopt-ci"));
  return Gate(services, request, std::move(repository), scratch.path()).run();
}

int gateExitCode(const GateReport &report, const std::vector<std::string> &failOn) {
  const auto names = [&](const char *word) {
    return std::ranges::find(failOn, word) != failOn.end();
  };
  constexpr int kMatched = 2;
  if (names("regression") && std::ranges::any_of(report.kernels, &GateKernel::isAlarm))
    return kMatched;
  const bool isWin =
      !report.proposals.empty() || std::ranges::any_of(report.kernels, [](const GateKernel &one) {
        return one.verdict == GateVerdict::Faster;
      });
  if (names("win") && isWin)
    return kMatched;
  if (names("stale") && std::ranges::any_of(report.variants, &GateVariant::isNew))
    return int(ErrorCode::StaleInput);
  return 0;
}

} // namespace kopt
