// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/Extract.h"

#include "clang_plugin/args/NvccToClangArgs.h"
#include "clang_plugin/extract/Kernels.h"
#include "clang_plugin/parse/Toolkit.h"
#include "clang_plugin/proof/Prove.h"
#include "clang_plugin/slice/Slice.h"

#include <algorithm>
#include <atomic>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/xxhash.h>
#include <mutex>
#include <thread>

namespace kopt::frontend {
namespace {

/// XXH3-128 in its canonical form: big endian, high half first. The driver's support/Hash.cpp gives
/// the same.
std::string hashOf(llvm::ArrayRef<std::uint8_t> bytes) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(bytes);
  auto hex = [](std::uint64_t half) {
    std::string digits = llvm::utohexstr(half, /*LowerCase=*/true);
    return std::string(16 - digits.size(), '0') + digits;
  };
  return hex(hash.high64) + hex(hash.low64);
}

void addNote(Extraction &extraction, const std::string &note) {
  if (std::find(extraction.notes.begin(), extraction.notes.end(), note) == extraction.notes.end())
    extraction.notes.push_back(note);
}

/// Options files are read once, here: everything later works with the flags themselves.
std::vector<std::string> expandedFlags(const ExtractUnit &unit) {
  return translateNvcc(unit.flags,
                       [&unit](const std::string &path) -> std::optional<std::string> {
                         llvm::SmallString<256> full(path);
                         if (path.empty() || path[0] != '/') {
                           full = unit.directory;
                           full += "/" + path;
                         }
                         auto buffer = llvm::MemoryBuffer::getFile(full);
                         if (!buffer)
                           return std::nullopt;
                         return (*buffer)->getBuffer().str();
                       })
      .nvcc;
}

void hashFiles(const SourceIndex &index, Extraction &extraction) {
  for (const std::string &file : index.userFiles())
    if (auto buffer =
            llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false))
      extraction.fileHashes[file] = hashOf(llvm::arrayRefFromStringRef((*buffer)->getBuffer()));
}

/// One specialization and what its proof needs.
struct Work {
  SpecializationInfo *specialization = nullptr;
  std::string proofText;
  SliceText withAllIncludes; ///< tried where the smallest slice does not compile
};

/// The original's PTX, optimised and not; the second is only built when it is asked for.
class Original {
public:
  Original(std::string nvcc, std::string file, std::vector<std::string> flags,
           std::string directory)
      : nvcc_(std::move(nvcc)), file_(std::move(file)), flags_(std::move(flags)),
        directory_(std::move(directory)) {}

  const NvccOutcome &build(bool optimise) {
    std::lock_guard lock(mutex_);
    std::optional<NvccOutcome> &built = optimise ? optimised_ : plain_;
    if (!built)
      built = compileToPtx(nvcc_, file_, flags_, directory_, optimise);
    return *built;
  }

  /// nvcc's verdict on a slice text. The optimiser decides differently beside other kernels, so
  /// where its results differ the code is compared as the front end made it.
  ProofOutcome prove(const std::string &text, const std::string &symbol) {
    llvm::SmallString<128> path;
    int descriptor = -1;
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("kopt-slice", "cu", descriptor, path))
      return {false, "no temporary file for the slice: " + error.message()};
    llvm::FileRemover remover(path);
    {
      llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
      stream << text;
    }
    ProofOutcome outcome;
    for (bool optimise : {true, false}) {
      NvccOutcome slice = compileToPtx(nvcc_, std::string(path), flags_, directory_, optimise);
      if (!slice.ok)
        return {false, "the slice does not compile: " + firstError(slice.diagnostics)};
      const NvccOutcome &original = build(optimise);
      if (!original.ok)
        return {false, "nvcc does not compile the original: " + firstError(original.diagnostics)};
      ProofOutcome compared = comparePtx(original.ptx, slice.ptx, symbol);
      if (compared.proven)
        return {
            true,
            optimise
                ? ""
                : "equal before optimisation; nvcc optimises it differently beside other kernels"};
      outcome = optimise ? compared : outcome;
    }
    return outcome;
  }

private:
  std::string nvcc_, file_;
  std::vector<std::string> flags_;
  std::string directory_;
  std::mutex mutex_;
  std::optional<NvccOutcome> optimised_, plain_;
};

void take(SliceText slice, SpecializationInfo &specialization) {
  specialization.sliceText = std::move(slice.text);
  specialization.chunks = std::move(slice.chunks);
  specialization.kernelChunk = slice.kernelChunk;
}

void proveOne(Original &original, Work &work) {
  SpecializationInfo &specialization = *work.specialization;
  ProofOutcome outcome = original.prove(work.proofText, specialization.symbol);
  // A header that Clang's wrapper brings unasked may be one that nvcc wants named.
  if (!outcome.proven && work.withAllIncludes.text != specialization.sliceText) {
    ProofOutcome second = original.prove(work.withAllIncludes.proofText, specialization.symbol);
    if (second.proven) {
      take(std::move(work.withAllIncludes), specialization);
      outcome = second;
    }
  }
  specialization.proven = outcome.proven;
  specialization.reason = outcome.reason;
  if (!outcome.proven)
    specialization.route = "overlay";
}

template <class Function> void inParallel(std::size_t count, unsigned jobs, Function work) {
  std::atomic<std::size_t> next = 0;
  auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      work(i);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<std::size_t>(jobs, count); ++i)
    threads.emplace_back(loop);
  loop();
  for (std::thread &thread : threads)
    thread.join();
}

/// A kernel in a header is found in every unit that includes it: its launches come together.
void merge(Extraction &extraction, KernelInfo kernel) {
  for (KernelInfo &known : extraction.kernels) {
    if (known.name != kernel.name || known.file != kernel.file || known.line != kernel.line)
      continue;
    for (SpecializationInfo &specialization : kernel.specializations)
      if (std::none_of(known.specializations.begin(), known.specializations.end(),
                       [&](const SpecializationInfo &other) {
                         return other.symbol == specialization.symbol;
                       }))
        known.specializations.push_back(std::move(specialization));
    known.launches.insert(known.launches.end(), kernel.launches.begin(), kernel.launches.end());
    for (const ConstantInfo &constant : kernel.constants)
      if (std::none_of(known.constants.begin(), known.constants.end(),
                       [&](const ConstantInfo &other) { return other.name == constant.name; }))
        known.constants.push_back(constant);
    return;
  }
  extraction.kernels.push_back(std::move(kernel));
}

} // namespace

UnitOutcome extractUnit(const ExtractUnit &unit, const ExtractOptions &options,
                        Extraction &extraction) {
  UnitOutcome outcome;
  std::vector<std::string> flags = expandedFlags(unit);
  ParsedUnit host = parseCuda({unit.file, std::nullopt, unit.flags, unit.directory, Pass::Host});
  ParsedUnit device =
      parseCuda({unit.file, std::nullopt, unit.flags, unit.directory, Pass::Device});
  for (const std::string &note : host.notes)
    addNote(extraction, note);

  // The original's PTX is what slices are held against, and nvcc's word on whether the file is
  // sound where Clang errs.
  std::optional<std::string> nvcc = findNvcc();
  Original original(nvcc.value_or(""), unit.file, flags, unit.directory);
  if (host.hasErrors || device.hasErrors) {
    const ParsedUnit &broken = host.hasErrors ? host : device;
    bool nvccAccepts =
        host.ast && device.ast && nvcc && original.build(/*optimise=*/true).ok;
    if (!nvccAccepts) {
      outcome.diagnostics = broken.diagnostics;
      return outcome;
    }
    for (const Diagnostic &diagnostic : broken.diagnostics)
      if (diagnostic.severity == "error") {
        addNote(extraction, unit.file + ": nvcc compiles what Clang does not (" +
                                diagnostic.message + "); what depends on it may be missing");
        break;
      }
  }
  if (!host.ast || !device.ast) {
    outcome.diagnostics = host.ast ? device.diagnostics : host.diagnostics;
    return outcome;
  }
  outcome.ok = true;

  SourceIndex hostIndex(*host.ast), deviceIndex(*device.ast);
  hashFiles(hostIndex, extraction);
  hashFiles(deviceIndex, extraction);
  std::vector<FoundKernel> kernels = findKernels(hostIndex, extraction.notes);
  std::vector<KernelInfo> infos;
  std::vector<Work> works;
  for (FoundKernel &found : kernels) {
    KernelInfo &kernel = infos.emplace_back(found.info);
    kernel.unit = unit.file;
    kernel.compileFlags = flags;
    kernel.directory = unit.directory;
    for (FoundSpecialization &specialization : found.specializations)
      kernel.specializations.push_back(specialization.info);
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    FoundKernel &found = kernels[k];
    SliceRequest request;
    request.host = &hostIndex;
    request.device = &deviceIndex;
    request.hostKernel = found.pattern;
    request.deviceKernel = findSameKernel(deviceIndex, found);
    for (SpecializationInfo &specialization : infos[k].specializations) {
      Work work;
      work.specialization = &specialization;
      request.expression = specialization.templateArgs.empty() ? "" : specialization.expression;
      SliceText small = buildSlice(request);
      request.allIncludes = true;
      work.withAllIncludes = buildSlice(request);
      request.allIncludes = false;
      if (!small.problem.empty()) {
        specialization.route = "overlay";
        specialization.reason = small.problem;
      }
      work.proofText = small.proofText;
      // Unproven, the slice keeps every header: smaller is only safe where it can be checked.
      take(nvcc && options.prove ? std::move(small) : work.withAllIncludes, specialization);
      addSliceConstants(hostIndex, specialization.chunks, infos[k]);
      addSliceConstants(deviceIndex, specialization.chunks, infos[k]);
      works.push_back(std::move(work));
    }
    if (infos[k].specializations.empty())
      addNote(extraction, infos[k].file + ":" + std::to_string(infos[k].line) + ": " +
                              infos[k].name +
                              " is a template that nothing in this unit launches; there is no "
                              "specialization to tune");
  }

  if (!options.prove || !nvcc) {
    addNote(extraction,
            options.prove
                ? "no nvcc was found: the slices could not be compared with the original's PTX"
                : "--no-proof: the slices were not compared with the original's PTX");
    for (Work &work : works)
      if (work.specialization->reason.empty())
        work.specialization->reason = "not compared with the original's PTX";
  } else if (!works.empty()) {
    const NvccOutcome &built = original.build(/*optimise=*/true);
    if (!built.ok) {
      for (Work &work : works) {
        work.specialization->route = "refused";
        work.specialization->reason =
            "nvcc does not compile the original: " + firstError(built.diagnostics);
      }
      addNote(extraction,
              unit.file + ": nvcc does not compile this file: " + firstError(built.diagnostics));
    } else {
      inParallel(works.size(), options.jobs, [&](std::size_t i) {
        if (works[i].specialization->route == "slice")
          proveOne(original, works[i]);
      });
    }
  }
  for (KernelInfo &kernel : infos)
    merge(extraction, std::move(kernel));
  return outcome;
}

} // namespace kopt::frontend
