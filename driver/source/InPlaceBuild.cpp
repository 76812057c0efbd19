// SPDX-License-Identifier: Apache-2.0
#include "driver/source/InPlaceBuild.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

bool overlaps(const SourceRange &a, const SourceRange &b) {
  return a.begin < b.end && b.begin < a.end;
}

/// The editable chunks and the constants in `file`, in order and without overlaps. The kernel's own
/// chunk takes precedence over those that overlap it.
std::vector<SliceChunk> chunksIn(const std::string &file, const KernelSpec &kernel,
                                 const SliceChunk &kernelChunk,
                                 const std::vector<SliceChunk> &chunks) {
  std::vector<SliceChunk> kept = {kernelChunk};
  const auto add = [&](const SliceChunk &chunk) {
    const bool isFree = std::ranges::none_of(
        kept, [&](const SliceChunk &other) { return overlaps(other.source, chunk.source); });
    if (chunk.source.file == file && isFree)
      kept.push_back(chunk);
  };
  for (const SliceChunk &chunk : chunks)
    if (chunk.editable)
      add(chunk);
  for (const NamedConstant &constant : kernel.constants)
    add({constant.valueRange, 0, 0, ChunkRole::Constant, constant.name, false, {}});
  std::ranges::sort(kept, [](const SliceChunk &a, const SliceChunk &b) {
    return a.source.begin < b.source.begin;
  });
  return kept;
}

} // namespace

// Compilers look for quoted headers beside the file that includes them. nvcc splits the argument of
// -Xcompiler at commas and blanks, so folders with such characters need -I.
std::vector<std::string> headersBeside(const std::string &file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (folder.find_first_of(", \t'\"\\") != std::string::npos)
    return {"-I", folder};
  return {"-Xcompiler", "-iquote," + folder};
}

Result<InPlaceSource> editInPlace(const KernelSpec &kernel, const Specialization &specialization,
                                  const std::map<std::string, std::string> &fileHashes) {
  const std::string where = placeOf(kernel);
  const auto cannot = [&](const std::string &why, const std::string &hint) {
    return makeError(
        ErrorCode::BaselineFailed,
        fmt::format("kernel '{}' can neither be lifted out ({}) nor edited in its file: {}",
                    specialization.expression, specialization.reason, why),
        hint, where);
  };
  if (specialization.route != Route::InPlace)
    return cannot(std::string("its route is ") + toString(specialization.route),
                  "run kopt-extract on the file for details");
  if (specialization.kernelChunk >= specialization.chunks.size())
    return cannot("its definition could not be read", "run kopt-extract on the file for details");
  const SliceChunk &kernelChunk = specialization.chunks[specialization.kernelChunk];
  if (kernelChunk.source.file != kernel.unit)
    return cannot(
        fmt::format("it is defined in {}, not in {}", kernelChunk.source.file, kernel.unit),
        "move its definition into the file that launches it");
  if (specialization.fileLocal)
    return cannot(
        "nvcc puts the file's own name into the kernel's symbol, but the copy has another name",
        "take it out of its anonymous namespace, or make it non-static");

  KOPT_TRY(const std::string original, readFile(kernel.unit));
  if (const auto hash = fileHashes.find(kernel.unit);
      hash == fileHashes.end() || hash->second != hashHex(original))
    return makeError(ErrorCode::StaleInput, kernel.unit + " changed since it was read",
                     "run kopt again", where);

  InPlaceSource inPlace;
  const std::string line = fmt::format("#line 1 \"{}\"\n", kernel.unit);
  inPlace.text = line + original;
  inPlace.specialization = specialization;
  inPlace.specialization.slice = kernel.unit;
  inPlace.specialization.chunks = chunksIn(kernel.unit, kernel, kernelChunk, specialization.chunks);
  for (std::size_t i = 0; i < inPlace.specialization.chunks.size(); ++i) {
    SliceChunk &chunk = inPlace.specialization.chunks[i];
    if (chunk.source.end > original.size() || chunk.source.begin > chunk.source.end)
      return makeError(ErrorCode::Internal,
                       fmt::format("a range of '{}' lies outside {}", chunk.name, kernel.unit));
    chunk.sliceBegin = chunk.source.begin + line.size();
    chunk.sliceEnd = chunk.source.end + line.size();
    if (chunk.source.begin == kernelChunk.source.begin)
      inPlace.specialization.kernelChunk = i;
  }
  inPlace.compileFlags = kernel.compileFlags;
  for (const std::string &flag : headersBeside(kernel.unit))
    inPlace.compileFlags.push_back(flag);
  return inPlace;
}

} // namespace kopt
