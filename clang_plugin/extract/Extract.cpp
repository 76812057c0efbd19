// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Extract.h"

#include "clang_plugin/args/NvccToClangArgs.h"
#include "clang_plugin/extract/Kernels.h"
#include "clang_plugin/extract/LibraryKernels.h"
#include "clang_plugin/parallel/WorkPool.h"
#include "clang_plugin/parse/FileRecord.h"
#include "clang_plugin/parse/Toolkit.h"
#include "clang_plugin/proof/Prove.h"
#include "clang_plugin/proof/Ptx.h"
#include "clang_plugin/slice/Slice.h"
#include "clang_plugin/slice/UnitUses.h"
#include "clang_plugin/tunables/KernelSizes.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <llvm/Demangle/Demangle.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <mutex>
#include <set>
#include <utility>

namespace kopt::frontend {
namespace {

void addNote(ExtractionResult &extraction, const std::string &text,
             NoteKind kind = NoteKind::Other) {
  if (const ExtractionNote note{text, kind}; !llvm::is_contained(extraction.notes, note))
    extraction.notes.push_back(note);
}

constexpr const char *kDoesNotCompile = "the slice does not compile: ";

/// True for a file of the user's project. What kopt itself brings and what CMake makes, such as its
/// files of options, does not count: it names folders of this machine.
bool isOfProject(llvm::StringRef file, const std::string &project) {
  return project.size() > 1 && file.starts_with(project + "/") && !file.contains("/CMakeFiles/") &&
         !file.starts_with(emulatedIncludeDirectory()) && !file.ends_with("/kopt/kopt.h");
}

/// Hashes the user's files, and into `others` what else of the project the unit reads.
void hashFiles(const std::map<std::string, bool> &files, const std::string &project,
               ExtractionResult &extraction, std::map<std::string, std::string> &others) {
  for (const auto &[file, isUsers] : files)
    if (isUsers || isOfProject(file, project))
      if (auto buffer =
              llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false))
        (isUsers ? extraction.fileHashes : others)[file] = contentHash((*buffer)->getBuffer());
}

/// One hash for all headers that were read, except the user's, whose text slices contain.
std::string hashOfLibraries(const FileRecord &record, const ExtractionResult &extraction) {
  std::string all;
  for (const auto &[path, file] : record.files()) {
    llvm::SmallString<256> plain(path);
    llvm::sys::path::remove_dots(plain, /*remove_dot_dot=*/true);
    if (file.kind == SeenFile::Read && !extraction.fileHashes.count(std::string(plain)))
      all += path + " " + file.hash + "\n";
  }
  return contentHash(all);
}

bool isEmitted(const Specialization &specialization) { return !specialization.symbol.empty(); }

/// Sets each specialization's symbol to nvcc's, or to none if nvcc emits no code for it. Adds notes
/// for entry points that were not found.
void takeNvccsNames(const std::vector<std::string> &entries, std::vector<KernelSpec> &kernels,
                    ExtractionResult &extraction, const std::string &file) {
  std::set<std::string> left(entries.begin(), entries.end());
  for (LibraryKernel &kernel : extraction.libraryKernels)
    left.erase(kernel.symbol);
  for (KernelSpec &kernel : kernels) {
    for (Specialization &specialization : kernel.specializations) {
      std::string entry = findEntry(entries, specialization.symbol);
      left.erase(entry);
      if (entry.empty()) {
        std::erase_if(kernel.launches, [&](const LaunchSite &launch) {
          return launch.symbol == specialization.symbol;
        });
        addNote(extraction, kernel.file + ":" + std::to_string(kernel.line) +
                                ": nvcc emits no code for " + specialization.expression +
                                ": nothing in this unit uses it");
        specialization.symbol.clear();
      }
      if (entry == specialization.symbol)
        continue;
      for (LaunchSite &launch : kernel.launches)
        if (launch.symbol == specialization.symbol)
          launch.symbol = entry;
      specialization.symbol = entry;
      specialization.fileLocal = true;
    }
  }
  for (const std::string &entry : left)
    addNote(extraction, file + ": nvcc emits the kernel " + llvm::demangle(entry) + " (" + entry +
                            "), which was not found");
}

/// Specializations of one kernel whose slices differ only in what they instantiate.
struct Work {
  std::vector<Specialization *> specializations;
  std::vector<SliceText> slices; ///< before any instantiation; the first one that is proven is used
};

/// The original's PTX, optimised and unoptimised; each is built when first needed.
class Original {
public:
  Original(std::string nvcc, std::string file, std::vector<std::string> flags,
           std::string directory)
      : nvcc_(std::move(nvcc)), file_(std::move(file)), flags_(std::move(flags)),
        directory_(std::move(directory)) {}

  struct Built {
    bool ok = false;
    std::string diagnostics;
    std::unique_ptr<PtxModule> ptx; ///< set if ok
  };

  const Built &build(bool optimise) {
    std::lock_guard lock(mutex_);
    std::optional<Built> &built = optimise ? optimised_ : plain_;
    if (!built) {
      NvccOutcome outcome =
          compileToPtx(nvcc_, file_, flags_, directory_, optimise, /*listsInputs=*/inputs_.empty());
      if (!outcome.ok) // it is not known which files it read
        isRepeatable_ = false;
      if (inputs_.empty())
        inputs_ = std::move(outcome.inputs);
      built = Built{outcome.ok, outcome.diagnostics, std::make_unique<PtxModule>(outcome.ptx)};
    }
    return *built;
  }

  /// Compares each kernel of a slice text with the original, by its symbol there. If optimised code
  /// differs, which may be because of other kernels beside it, unoptimised code is compared;
  /// `next`, which is tried after that, is compiled meanwhile unless it is empty.
  std::vector<ProofOutcome> prove(const std::string &text, const std::vector<std::string> &symbols,
                                  const std::string &next) {
    std::vector<ProofOutcome> outcomes(symbols.size());
    auto failAll = [&](const std::string &reason) {
      for (ProofOutcome &outcome : outcomes)
        if (!outcome.proven && outcome.reason.empty())
          outcome.reason = reason;
      return outcomes;
    };
    std::optional<std::string> claim = claimOf(text, symbols);
    if (claim && memory_->knows(*claim)) {
      for (ProofOutcome &outcome : outcomes)
        outcome.proven = true;
      return outcomes;
    }
    for (bool optimise : {true, false}) {
      const auto beside = std::async(optimise ? std::launch::deferred : std::launch::async,
                                     [this] { build(/*optimise=*/false); });
      if (!optimise && !next.empty())
        compileAhead(next);
      const NvccOutcome compiled = compileSlice(text, optimise);
      if (!compiled.isVerdict)
        isRepeatable_ = false;
      if (!compiled.ok)
        return failAll(kDoesNotCompile + firstError(compiled.diagnostics));
      PtxModule slice(compiled.ptx);
      const Built &original = build(optimise);
      if (!original.ok)
        return failAll("nvcc does not compile the original: " + firstError(original.diagnostics));
      bool all = true;
      for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (outcomes[i].proven)
          continue;
        ProofOutcome compared = comparePtx(*original.ptx, slice, symbols[i]);
        if (compared.proven && !optimise)
          compared.reason = "equal before optimisation; nvcc optimises it differently beside other "
                            "kernels";
        if (compared.proven || optimise)
          outcomes[i] = compared;
        all &= compared.proven;
      }
      if (all && optimise && claim)
        memory_->keep(*claim);
      if (all)
        break;
    }
    return outcomes;
  }

  /// Slices that `memory` knows count as proven. `libraries`: identifies headers not the user's.
  void remember(ProofMemory &memory, std::string libraries) {
    memory_ = &memory;
    libraries_ = std::move(libraries);
  }

  /// False once nvcc failed, except on slices that it refused.
  bool isRepeatable() const { return isRepeatable_; }
  /// The files that the original read, once it is built.
  const std::vector<std::string> &inputs() const { return inputs_; }

private:
  void compileAhead(const std::string &text) {
    std::lock_guard lock(aheadMutex_);
    std::shared_future<NvccOutcome> &compiled = ahead_[text];
    if (!compiled.valid())
      compiled = std::async(std::launch::async, [this, text] { return compileText(text, true); });
  }

  NvccOutcome compileSlice(const std::string &text, bool optimise) {
    std::shared_future<NvccOutcome> ahead;
    if (std::lock_guard lock(aheadMutex_); optimise && ahead_.count(text))
      ahead = ahead_.at(text);
    return ahead.valid() ? ahead.get() : compileText(text, optimise);
  }

  NvccOutcome compileText(const std::string &text, bool optimise) const {
    llvm::SmallString<128> path;
    int descriptor = -1;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("kopt-slice", "cu", descriptor, path)) {
      NvccOutcome none;
      none.diagnostics = "error: no temporary file for the slice: " + error.message();
      return none;
    }
    llvm::FileRemover remover(path);
    llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
    return compileToPtx(nvcc_, std::string(path), flags_, directory_, optimise,
                        /*listsInputs=*/false);
  }

  /// Everything that determines the slice's PTX and what it is compared with.
  std::optional<std::string> claimOf(const std::string &text,
                                     const std::vector<std::string> &symbols) {
    const Built *original = memory_ ? &build(/*optimise=*/true) : nullptr;
    if (!original || !original->ok)
      return std::nullopt;
    std::string claim = libraries_ + "\n" + contentHash(text);
    for (const std::string &symbol : symbols)
      if (auto code = original->ptx->normalised(findEntry(original->ptx->entries(), symbol)))
        claim += "\n" + symbol + " " + contentHash(*code);
      else
        return std::nullopt;
    return claim;
  }

  std::string nvcc_, file_;
  std::vector<std::string> flags_, inputs_;
  ProofMemory *memory_ = nullptr;
  std::string libraries_;
  std::string directory_;
  std::atomic<bool> isRepeatable_ = true;
  std::mutex mutex_;
  std::optional<Built> optimised_, plain_;
  std::mutex aheadMutex_;
  std::map<std::string, std::shared_future<NvccOutcome>> ahead_; ///< by the slice's text
};

void take(const SliceText &slice, Specialization &specialization) {
  SliceText instantiated = slice;
  if (!specialization.lifted->instantiation.empty())
    instantiate(instantiated, {specialization.lifted->instantiation});
  specialization.lifted->text = std::move(instantiated.text);
  specialization.chunks = std::move(instantiated.chunks);
  specialization.kernelChunk = slice.kernelChunk;
}

/// Proves the specializations in `pending` with one compilation: they share a slice text and differ
/// in their instantiations. Removes the proven ones from `pending`. `next`: the slice that is tried
/// after this one, or null.
void proveTogether(Original &original, const SliceText &slice, const SliceText *next,
                   std::vector<Specialization *> &pending) {
  std::vector<std::string> symbols, instantiations;
  for (const Specialization *specialization : pending) {
    symbols.push_back(specialization->symbol);
    const std::string &wanted = specialization->lifted->instantiation;
    if (!wanted.empty() && !llvm::is_contained(instantiations, wanted))
      instantiations.push_back(wanted);
  }
  const auto textOf = [&](SliceText instantiated) {
    instantiate(instantiated, instantiations);
    return instantiated.text;
  };
  std::vector<ProofOutcome> outcomes =
      original.prove(textOf(slice), symbols, next ? textOf(*next) : std::string());
  std::vector<Specialization *> left;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (outcomes[i].proven || pending[i]->reason.empty())
      pending[i]->reason = outcomes[i].reason;
    pending[i]->proven = outcomes[i].proven;
    if (outcomes[i].proven)
      take(slice, *pending[i]);
    else
      left.push_back(pending[i]);
  }
  pending = std::move(left);
}

/// Proves specializations with the first slice that fits, from `first` on and then those before it.
/// Returns the number of the slice that proved one; `first` if none did.
std::size_t proveWith(Original &original, const std::vector<SliceText> &slices, std::size_t first,
                      const std::vector<Specialization *> &specializations) {
  std::vector<Specialization *> pending;
  for (Specialization *specialization : specializations)
    if (specialization->route == Route::Slice)
      pending.push_back(specialization);
  auto doesNotCompile = [](const Specialization *specialization) {
    return specialization->reason.rfind(kDoesNotCompile, 0) == 0;
  };
  std::size_t proving = first;
  for (std::size_t i = 0; i < slices.size() && !pending.empty(); ++i) {
    const std::size_t number = (first + i) % slices.size();
    const SliceText &slice = slices[number];
    // #line directives alone do not fix an error.
    if (slice.withLines && std::ranges::all_of(pending, doesNotCompile))
      continue;
    const std::size_t before = pending.size();
    const bool isLast = i + 1 == slices.size();
    const SliceText *next = isLast ? nullptr : &slices[(number + 1) % slices.size()];
    proveTogether(original, slice, next, pending);
    // One instantiation that cannot be written prevents all from being compiled.
    if (before > 1 && pending.size() == before && doesNotCompile(pending.front()))
      for (Specialization *specialization : std::exchange(pending, {})) {
        std::vector<Specialization *> alone = {specialization};
        specialization->reason.clear();
        proveTogether(original, slice, next, alone);
        pending.insert(pending.end(), alone.begin(), alone.end());
      }
    if (pending.size() < before && proving == first)
      proving = number;
  }
  for (Specialization *specialization : pending)
    specialization->route = Route::InPlace;
  return proving;
}

/// The most specializations of one kernel that are proven one by one, as they are given: nvcc's
/// optimiser may decide differently beside others. Each takes a compilation, and a file should take
/// no more than three times as long as nvcc needs for it. More are proven with one compilation;
/// their reason says so.
constexpr std::size_t kMostAlone = 4;

void proveAll(WorkPool &pool, Original &original, const std::vector<Work> &works) {
  struct Alone {
    const Work *work;
    std::size_t first; ///< the slice that proved the kernel's first specialization
    Specialization *specialization;
  };
  std::vector<Alone> alone;
  std::mutex mutex;
  pool.forEach(works.size(), [&](std::size_t i) {
    const std::vector<Specialization *> &all = works[i].specializations;
    const bool isMany = all.size() > kMostAlone;
    const std::size_t proving =
        proveWith(original, works[i].slices, 0, isMany ? all : std::vector{all.front()});
    if (isMany) {
      for (Specialization *specialization : all)
        if (specialization->proven && specialization->reason.empty())
          specialization->reason = "proven together with the kernel's other " +
                                   std::to_string(all.size() - 1) + " specializations, not alone";
      return;
    }
    std::lock_guard lock(mutex);
    for (std::size_t other = 1; other < all.size(); ++other)
      alone.push_back({&works[i], proving, all[other]});
  });
  pool.forEach(alone.size(), [&](std::size_t i) {
    proveWith(original, alone[i].work->slices, alone[i].first, {alone[i].specialization});
  });
}

} // namespace

std::vector<std::string> expandedFlags(const ExtractUnit &unit,
                                       std::map<std::string, bool> *optionFiles) {
  return translateNvcc(unit.flags,
                       [&](const std::string &path) -> std::optional<std::string> {
                         llvm::SmallString<256> full(path);
                         if (path.empty() || path[0] != '/') {
                           full = unit.directory;
                           full += "/" + path;
                         }
                         auto buffer = llvm::MemoryBuffer::getFile(full);
                         if (!buffer)
                           return std::nullopt;
                         llvm::SmallString<256> real;
                         if (optionFiles && !llvm::sys::fs::real_path(full, real))
                           optionFiles->emplace(real, false);
                         return (*buffer)->getBuffer().str();
                       })
      .nvcc;
}

namespace {

/// The extraction of one unit, step by step.
class UnitExtraction {
public:
  UnitExtraction(const ExtractUnit &unit, const ExtractOptions &options,
                 ExtractionResult &extraction)
      : unit_(unit), options_(options), extraction_(extraction),
        flags_(expandedFlags(unit, &optionFiles_)), nvcc_(findNvcc()),
        original_(nvcc_.value_or(""), unit.file, flags_, unit.directory) {}

  UnitOutcome run() {
    // Slices are compared with its PTX. If that is certain to be needed, build it during the parse.
    const bool isSure = options_.prove && nvcc_ && !options_.proveOnly.empty();
    const auto beside = std::async(isSure ? std::launch::async : std::launch::deferred,
                                   [&] { original_.build(/*optimise=*/true); });
    if (!parse())
      return std::move(outcome_);
    outcome_.ok = true;
    sliceAll();
    prove();
    for (KernelSpec &kernel : infos_) {
      std::erase_if(kernel.specializations, [](const Specialization &specialization) {
        return !isEmitted(specialization);
      });
      extraction_.kernels.push_back(std::move(kernel));
    }
    if (isSure)
      beside.wait();
    outcome_.isRepeatable = original_.isRepeatable();
    outcome_.readByNvcc = original_.inputs();
    return std::move(outcome_);
  }

private:
  /// False if the unit cannot be read, with the diagnostics in the outcome.
  bool parse() {
    options_.pool.forEach(2, [&](std::size_t i) {
      ParseRequest request = {unit_.file, std::nullopt, unit_.flags, unit_.directory};
      request.pass = i == 0 ? Pass::Host : Pass::Device;
      request.skipLibraryBodies = true;
      request.files = options_.files;
      (i == 0 ? host_ : device_) = parseCuda(request);
    });
    for (const std::string &note : host_.notes)
      addNote(extraction_, note);
    if (host_.hasErrors || device_.hasErrors) {
      const ParsedUnit &broken = host_.hasErrors ? host_ : device_;
      const bool nvccAccepts =
          host_.ast && device_.ast && nvcc_ && original_.build(/*optimise=*/options_.prove).ok;
      if (!nvccAccepts) {
        outcome_.isRepeatable = original_.isRepeatable();
        outcome_.diagnostics = broken.diagnostics;
        return false;
      }
      if (const Diagnostic *first = firstErrorOf(broken.diagnostics))
        addNote(extraction_,
                (first->file.empty() ? unit_.file : first->place()) +
                    ": nvcc compiles what Clang does not (" + first->message +
                    "); what depends on it may be missing",
                NoteKind::PartlyRead);
    }
    if (!host_.ast || !device_.ast)
      outcome_.diagnostics = host_.ast ? device_.diagnostics : host_.diagnostics;
    return host_.ast && device_.ast;
  }

  void sliceAll() {
    const SourceIndex host(*host_.ast), device(*device_.ast);
    const std::vector<FoundKernel> kernels = describeKernels(host, device);
    // nvcc takes long, so prove only what is wanted.
    bool anyWanted = false;
    for (const KernelSpec &kernel : infos_)
      for (const Specialization &specialization : kernel.specializations)
        if (options_.proveOnly.empty() ||
            llvm::is_contained(options_.proveOnly, specialization.symbol))
          anyWanted = true;
        else
          unwanted_.insert(&specialization);
    proves_ = options_.prove && nvcc_ && anyWanted;
    if (proves_ && original_.build(/*optimise=*/true).ok)
      takeNvccsNames(original_.build(/*optimise=*/true).ptx->entries(), infos_, extraction_,
                     unit_.file);
    const UnitUses uses(host, device);
    const UnitReferences references(host);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      slice(kernels[k], infos_[k], host, device, uses);
      readSizes(references, kernels[k], infos_[k]);
    }
  }

  /// Finds the kernels, and makes the records of them.
  std::vector<FoundKernel> describeKernels(const SourceIndex &host, const SourceIndex &device) {
    std::map<std::string, std::string> others;
    for (const auto &files : {host.files(), device.files(), optionFiles_})
      hashFiles(files, options_.project, extraction_, others);
    if (options_.files && options_.proofs)
      original_.remember(*options_.proofs, hashOfLibraries(*options_.files, extraction_));
    std::vector<FoundKernel> kernels = findKernels(host, extraction_);
    extraction_.libraryKernels = findLibraryKernels(host);
    for (const FoundKernel &found : kernels) {
      KernelSpec &kernel = infos_.emplace_back(found.info);
      kernel.unit = unit_.file;
      kernel.units = {unit_.file};
      kernel.compileFlags = flags_;
      kernel.directory = unit_.directory;
      kernel.projectFiles = others;
      for (const FoundSpecialization &specialization : found.specializations)
        kernel.specializations.push_back(specialization.info);
    }
    return kernels;
  }

  /// Slices a kernel: one text serves all specializations, except those that need a host function's
  /// lambda.
  void slice(const FoundKernel &found, KernelSpec &kernel, const SourceIndex &host,
             const SourceIndex &device, const UnitUses &uses) {
    std::map<const clang::FunctionDecl *, std::vector<Specialization *>> groups;
    for (std::size_t i = 0; i < found.specializations.size(); ++i)
      if (Specialization &specialization = kernel.specializations[i]; isEmitted(specialization))
        groups[found.specializations[i].enclosing].push_back(&specialization);
    for (auto &[enclosing, specializations] : groups) {
      Work work;
      const SliceRequest wanted{&host, &device, found.pattern, enclosing};
      work.slices = buildSlices(wanted);
      uses.findUsers(work.slices, enclosing);
      if (kernel.outside.empty()) {
        kernel.outside = uses.namesOutside(work.slices.front());
        kernel.unused = unusedBefore(wanted, work.slices.front());
        uses.findUsersOfVariables(kernel.unused);
      }
      for (Specialization *specialization : specializations)
        take(work, *specialization);
      addSliceConstants(host, work.slices.front().chunks, kernel);
      addSliceConstants(device, work.slices.front().chunks, kernel);
      if (!work.specializations.empty())
        works_.push_back(std::move(work));
    }
    const std::string place = kernel.file + ":" + std::to_string(kernel.line) + ": " + kernel.name;
    if (!kernel.defined)
      addNote(extraction_,
              place + " is launched in " + unit_.file + " and defined in another file");
    else if (kernel.specializations.empty())
      addNote(extraction_, place + " is a template that nothing in this unit launches; there is no "
                                   "specialization to tune");
  }

  static void readSizes(const UnitReferences &references, const FoundKernel &found,
                        KernelSpec &kernel) {
    const auto isInSlice = [&](const clang::FunctionDecl *function) {
      const auto at = references.index.declarationAt(function->getLocation());
      return at && llvm::any_of(kernel.specializations, [&](const Specialization &one) {
               return llvm::any_of(one.chunks, [&](const SliceChunk &chunk) {
                 const Piece &piece = references.index.pieces()[*at];
                 return chunk.source.file == piece.file && chunk.source.begin == piece.begin;
               });
             });
    };
    if (found.pattern && (found.pattern->isTemplated() || !kernel.constants.empty()))
      kernel.sizes = sizesOf(references, *found.pattern, isInSlice, kernel.constants);
  }

  /// Gives a specialization its slice, and the work its proof where that is wanted.
  void take(Work &work, Specialization &specialization) {
    const bool isWanted = !unwanted_.contains(&specialization);
    if (isWanted)
      work.specializations.push_back(&specialization);
    else
      specialization.reason = "not compared with the original's PTX: nobody asked for it";
    // Without a proof, the slice keeps every header: it could not be checked without some.
    const SliceText &preferred = *std::ranges::find_if(work.slices, [&](const SliceText &slice) {
      return (proves_ && isWanted) || slice.withAllHeaders;
    });
    if (!preferred.problem.empty()) {
      specialization.route = Route::InPlace;
      specialization.reason = preferred.problem;
    }
    frontend::take(preferred, specialization);
  }

  void sayOfEach(std::optional<Route> route, const std::string &reason) {
    for (KernelSpec &kernel : infos_)
      for (Specialization &specialization : kernel.specializations) {
        specialization.route = route.value_or(specialization.route);
        if (specialization.reason.empty() || route)
          specialization.reason = reason;
      }
  }

  void prove() {
    if (!options_.prove || !nvcc_) {
      addNote(extraction_,
              options_.prove
                  ? "no nvcc was found: the slices could not be compared with the original's PTX"
                  : "--no-proof: the slices were not compared with the original's PTX");
      sayOfEach(std::nullopt, "not compared with the original's PTX");
      return;
    }
    if (works_.empty())
      return;
    // Free the memory for other files, because nvcc takes long.
    host_.ast.reset();
    device_.ast.reset();
    const Original::Built &built = original_.build(/*optimise=*/true);
    if (built.ok) {
      proveAll(options_.pool, original_, works_);
      return;
    }
    const std::string why = firstError(built.diagnostics);
    sayOfEach(Route::Refused, "nvcc does not compile the original: " + why);
    addNote(extraction_, unit_.file + ": nvcc does not compile this file: " + why);
  }

  const ExtractUnit &unit_;
  const ExtractOptions &options_;
  ExtractionResult &extraction_;
  std::map<std::string, bool> optionFiles_;
  const std::vector<std::string> flags_;
  const std::optional<std::string> nvcc_;
  Original original_;
  ParsedUnit host_, device_;
  std::vector<KernelSpec> infos_;
  std::vector<Work> works_;
  std::set<const Specialization *> unwanted_; ///< those that need no proof
  bool proves_ = false;
  UnitOutcome outcome_;
};

} // namespace

UnitOutcome extractUnit(const ExtractUnit &unit, const ExtractOptions &options,
                        ExtractionResult &extraction) {
  return UnitExtraction(unit, options, extraction).run();
}

} // namespace kopt::frontend
