// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/extract/MergeUnits.h"

#include <algorithm>
#include <utility>

namespace kopt::frontend {
namespace {

void addConstants(const std::vector<NamedConstant> &constants, KernelSpec &kernel) {
  for (const NamedConstant &constant : constants)
    if (std::none_of(kernel.constants.begin(), kernel.constants.end(),
                     [&](const NamedConstant &other) { return other.name == constant.name; }))
      kernel.constants.push_back(constant);
}

void addUnits(const std::vector<std::string> &units, KernelSpec &kernel) {
  for (const std::string &unit : units)
    if (std::find(kernel.units.begin(), kernel.units.end(), unit) == kernel.units.end())
      kernel.units.push_back(unit);
}

/// Moves launches of a kernel that is only declared to the kernel of the unit that defines it.
void joinLaunches(KernelSpec &declared, KernelSpec &defined) {
  std::size_t before = declared.launches.size();
  std::erase_if(declared.launches, [&defined](LaunchSite &launch) {
    bool isIts = std::any_of(defined.specializations.begin(), defined.specializations.end(),
                             [&launch](const Specialization &specialization) {
                               return specialization.symbol == launch.symbol;
                             });
    if (isIts)
      defined.launches.push_back(std::move(launch));
    return isIts;
  });
  if (declared.launches.size() == before)
    return;
  addConstants(declared.constants, defined);
  addUnits(declared.units, defined);
}

/// Merges a kernel: one in a header is found in every unit that includes it.
void mergeKernel(ExtractionResult &extraction, KernelSpec kernel) {
  for (KernelSpec &known : extraction.kernels)
    if (known.defined != kernel.defined)
      joinLaunches(kernel.defined ? known : kernel, kernel.defined ? kernel : known);
  auto isIdle = [](const KernelSpec &known) { return !known.defined && known.launches.empty(); };
  std::erase_if(extraction.kernels, isIdle);
  if (isIdle(kernel))
    return;
  for (KernelSpec &known : extraction.kernels) {
    if (known.name != kernel.name || known.file != kernel.file || known.line != kernel.line)
      continue;
    for (Specialization &specialization : kernel.specializations)
      if (std::none_of(
              known.specializations.begin(), known.specializations.end(),
              [&](const Specialization &other) { return other.symbol == specialization.symbol; }))
        known.specializations.push_back(std::move(specialization));
    known.launches.insert(known.launches.end(), kernel.launches.begin(), kernel.launches.end());
    addConstants(kernel.constants, known);
    addUnits(kernel.units, known);
    known.projectFiles.merge(kernel.projectFiles);
    // Declarations that candidates may use must exist in all units.
    std::erase_if(known.unused, [&](const SliceChunk &chunk) {
      return std::none_of(kernel.unused.begin(), kernel.unused.end(),
                          [&](const SliceChunk &other) { return other.source == chunk.source; });
    });
    for (OutsideNamed &name : kernel.outside)
      if (std::none_of(known.outside.begin(), known.outside.end(), [&](const OutsideNamed &other) {
            return other.name == name.name && other.declared >= name.declared;
          }))
        known.outside.push_back(std::move(name));
    return;
  }
  extraction.kernels.push_back(std::move(kernel));
}

} // namespace

void merge(ExtractionResult &all, ExtractionResult unit) {
  std::size_t earlier = all.notes.size();
  for (ExtractionNote &note : unit.notes)
    if (std::find(all.notes.begin(), all.notes.begin() + static_cast<std::ptrdiff_t>(earlier),
                  note) == all.notes.begin() + static_cast<std::ptrdiff_t>(earlier))
      all.notes.push_back(std::move(note));
  all.fileHashes.merge(unit.fileHashes);
  for (LibraryKernel &kernel : unit.libraryKernels)
    if (std::none_of(all.libraryKernels.begin(), all.libraryKernels.end(),
                     [&](const LibraryKernel &known) { return known.symbol == kernel.symbol; }))
      all.libraryKernels.push_back(std::move(kernel));
  for (KernelSpec &kernel : unit.kernels)
    mergeKernel(all, std::move(kernel));
  // A launch in a header is found in every unit that includes it.
  for (LaunchSite &launch : unit.unresolvedLaunches)
    if (std::none_of(all.unresolvedLaunches.begin(), all.unresolvedLaunches.end(),
                     [&](const LaunchSite &known) {
                       return known.file == launch.file && known.line == launch.line &&
                              known.column == launch.column;
                     }))
      all.unresolvedLaunches.push_back(std::move(launch));
}

} // namespace kopt::frontend
