// SPDX-License-Identifier: Apache-2.0
// The answers of the front end: kernels.json, offers, findings, mutants and clones, what the
// emulation compiler says, and what the driver then does with a kernel: clauses, workload, slices
// of candidates, edits.
#include "driver/device/Toolchain.h"
#include "driver/device/build/Toolchains.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/Frontend.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/SourceEdits.h"
#include "driver/source/TuneClauses.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/WorkloadBuilder.h"
#include "tests/fakes/FakeProcessRunner.h"
#include "tests/fuzz/Fuzz.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace kopt;
using kopt::fuzz::require;

namespace {

constexpr std::uint64_t kSliceLimit = 4096;

/// The driver reads ranges of the user's files: here they all lie in one that is there.
void pointInto(std::optional<SourceRange> &range, const std::string &file) {
  if (range)
    range->file = file;
}

void useCandidates(KernelSpec &kernel, const Specialization &specialization) {
  std::uint64_t end = 0;
  for (const SliceChunk &chunk : specialization.chunks)
    end = std::max(end, chunk.sliceEnd);
  const std::string slice(std::min(end, kSliceLimit), 'x');
  const auto same = renderSlice(slice, kernel, specialization, {});
  if (same) {
    require(same->text == slice, "a candidate that changes nothing has the baseline's slice");
    require(same->chunks.size() == specialization.chunks.size(),
            "every chunk has its place in the slice");
  }
  Candidate candidate;
  for (const NamedConstant &constant : kernel.constants)
    candidate.constants[constant.name] = constant.value == 7 ? 8 : 7;
  for (const TemplateArg &argument : specialization.templateArgs)
    if (argument.integral)
      candidate.constants[argument.name] = 9;
  if (specialization.kernelChunk < specialization.chunks.size())
    candidate.chunks[specialization.kernelChunk] = "kernel";
  candidate.launch.block = {{"32", "2", "1"}};
  candidate.launch.sharedBytes = "64";
  coverThreads(candidate.launch);
  if (const auto rendered = renderSlice(slice, kernel, specialization, candidate))
    for (const auto &[begin, last] : rendered->chunks)
      require(begin <= last && last <= rendered->text.size(), "chunks lie in the rendered slice");
  if (const auto edits = writeBackEdits(kernel, specialization, candidate))
    if (const auto files = editsByFile(*edits))
      for (const auto &[file, list] : *files)
        (void)applyEdits(std::string(256, 'y'), list);
}

void useKernel(KernelSpec &kernel) {
  static const std::string file =
      kopt::fuzz::scratch().write("source.cu", std::string(256, '1')).string();
  for (LaunchSite &launch : kernel.launches)
    for (auto *range : {&launch.gridRange, &launch.blockRange, &launch.sharedRange})
      pointInto(*range, file);
  for (LaunchSite &launch : kernel.launches)
    for (auto *variable : {&launch.gridVariable, &launch.blockVariable})
      if (*variable)
        (*variable)->value.file = file;
  for (Specialization &specialization : kernel.specializations)
    for (TemplateArg &argument : specialization.templateArgs)
      pointInto(argument.range, file);
  const auto declaration = parseTuneDeclaration(kernel.clauses);
  for (const Specialization &specialization : kernel.specializations) {
    useCandidates(kernel, specialization);
    if (!declaration)
      continue;
    const auto workload = buildWorkload(kernel, specialization, *declaration, DeviceKind::Emulated);
    if (!workload)
      continue;
    for (const Launch &launch : workload->launches) {
      require(launch.arguments.size() == specialization.params.size(),
              "one argument for each parameter");
      require(launch.grid.count() > 0 && launch.block.count() > 0, "no empty launch");
      Candidate candidate;
      candidate.launch.block = {{"96", "1", "1"}};
      coverThreads(candidate.launch);
      (void)applyToLaunch(kernel, launch, candidate);
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view input = kopt::fuzz::textOf(data, size);
  const unsigned question = kopt::fuzz::takeChoice(input, 6);
  fakes::FakeProcessRunner processes;
  processes.on({"--version"}, 0, "clang version 19.1.7");
  processes.on({"frontend"}, 0, std::string(input));
  if (question == 3) {
    static const std::filesystem::path program = [] {
      const auto file = kopt::fuzz::scratch().write("kopt-frontend", "");
      std::filesystem::permissions(file, std::filesystem::perms::owner_all);
      return file;
    }();
    const auto toolchain = makeEmulatedToolchain(processes, program);
    require(toolchain.has_value(), "the toolchain is made");
    BuildRequest request;
    request.output = kopt::fuzz::scratch().path() / "built.so";
    const auto built = (*toolchain)->build(request);
    require(!built || !built->ok, "nothing was built");
    return 0;
  }
  const std::unique_ptr<Frontend> frontend = makeFrontend(processes, "frontend");
  const std::string slice(100, 's');
  if (question == 1) {
    if (const auto offers = frontend->transforms(slice, "k", {}, {}))
      for (const TransformOffer &offer : *offers) {
        for (const SourceEdit &edit : offer.edits)
          require(edit.range.begin <= edit.range.end && edit.range.end <= slice.size(),
                  "edits lie in the slice");
      }
    return 0;
  }
  if (question == 2) {
    if (const auto findings = frontend->screen(slice, slice, {}, "k", {}))
      for (const Finding &finding : *findings)
        require(finding.severity == Severity::Reject || finding.severity == Severity::Flag,
                "a severity is known");
    return 0;
  }
  if (question == 4) {
    if (const auto set = frontend->mutants(slice, "k", {}, {}))
      for (const Mutant &mutant : set->mutants) {
        require(mutant.sliceText != slice, "a mutant changes something");
        std::vector<SourceEdit> edits;
        for (const SliceEdit &edit : mutant.edits)
          edits.push_back({{"slice", edit.begin, edit.end}, edit.text});
        const auto edited = applyEdits(slice, edits);
        require(edited && *edited == mutant.sliceText,
                "a mutant's text is the slice with its edits");
      }
    return 0;
  }
  if (question == 5) {
    if (const auto clone = frontend->referenceClone(slice, "k", {}); clone && clone->made()) {
      require(!clone->slice.empty() && clone->sharedFactor > 0, "a clone has a text");
      for (const ReferenceParam &param : clone->params)
        for (const ElementField &field : param.element.fields)
          require(field.offset < param.element.size && field.newOffset < param.element.newSize,
                  "a field lies in its element");
    }
    return 0;
  }
  auto extraction = frontend->extract({});
  if (!extraction)
    return 0;
  for (KernelSpec &kernel : extraction->kernels) {
    for (const Specialization &specialization : kernel.specializations)
      require(specialization.route != Route::Slice ||
                  specialization.kernelChunk < specialization.chunks.size(),
              "a slice has its kernel");
    useKernel(kernel);
  }
  return 0;
}
