// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/KernelSource.h"

#include <clang/Frontend/ASTUnit.h>

namespace kopt::frontend {

namespace {

bool parses(const KernelSource &request, llvm::ArrayRef<SliceEdit> edits) {
  return !parseSlice(request, applyEdits(request.slice, edits)).problem();
}

bool overlaps(llvm::ArrayRef<SliceEdit> left, llvm::ArrayRef<SliceEdit> right) {
  for (const SliceEdit &a : left)
    for (const SliceEdit &b : right)
      if (a.begin <= b.end && b.begin <= a.end)
        return true;
  return false;
}

} // namespace

std::string applyEdits(const std::string &text, llvm::ArrayRef<SliceEdit> edits) {
  std::string result;
  std::size_t position = 0;
  for (const SliceEdit &edit : edits) {
    result.append(text, position, edit.begin - position);
    result += edit.text;
    position = edit.end;
  }
  return result.append(text, position);
}

ParsedUnit parseSlice(const KernelSource &request, const std::string &text) {
  ParseRequest parse;
  parse.file = "kopt-slice.cu";
  parse.content = text;
  parse.nvccFlags = request.flags;
  const bool namesArch = llvm::any_of(request.flags, [](llvm::StringRef flag) {
    return flag.contains("-arch") || flag.contains("-gencode") || flag.contains("-generate-code");
  });
  if (!request.arch.empty() && !namesArch)
    parse.nvccFlags.push_back("-arch=" + request.arch);
  parse.directory = request.directory;
  return parseCuda(parse);
}

std::vector<bool> findUnparsable(const KernelSource &request,
                                 llvm::ArrayRef<std::vector<SliceEdit>> lists) {
  std::vector<bool> isTried(lists.size()), isBroken(lists.size());
  for (std::size_t first = 0; first < lists.size(); ++first) {
    if (isTried[first] || lists[first].empty())
      continue;
    std::vector<std::size_t> batch;
    std::vector<SliceEdit> edits;
    for (std::size_t i = first; i < lists.size(); ++i) {
      if (isTried[i] || lists[i].empty() || overlaps(edits, lists[i]))
        continue;
      isTried[i] = true;
      batch.push_back(i);
      edits.insert(edits.end(), lists[i].begin(), lists[i].end());
    }
    llvm::stable_sort(edits,
                      [](const SliceEdit &a, const SliceEdit &b) { return a.begin < b.begin; });
    if (parses(request, edits))
      continue;
    for (std::size_t i : batch)
      isBroken[i] = batch.size() == 1 || !parses(request, lists[i]);
  }
  return isBroken;
}

} // namespace kopt::frontend
