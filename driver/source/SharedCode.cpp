// SPDX-License-Identifier: Apache-2.0
#include "driver/source/SharedCode.h"

#include "driver/source/CandidateLaunch.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

std::string userText(const OutsideUser &user) {
  return fmt::format("'{}' ({}:{})", user.name, user.file, user.line);
}

/// The names of the chunk's constants to which the candidate gives values; empty if one of them may
/// not change.
std::set<std::string> retuned(const SliceChunk &chunk, const KernelSpec &kernel,
                              const Specialization &specialization, const Candidate &candidate,
                              const std::vector<TunableParam> &tunables) {
  const bool hostOnly =
      std::ranges::all_of(chunk.users, [](const OutsideUser &user) { return user.host; });
  std::set<std::string> names;
  for (const NamedConstant &constant : constantsInScope(kernel, specialization)) {
    if (!contains(chunk.source, constant.valueRange) ||
        !candidate.constants.contains(constant.name))
      continue;
    const bool declared = std::ranges::any_of(
        tunables, [&](const TunableParam &tunable) { return tunable.name == constant.name; });
    if (!declared && !(constant.usedByLaunch && hostOnly))
      return {};
    names.insert(constant.name);
  }
  return names;
}

} // namespace

SharedCode sharedCode(const KernelSpec &kernel, const Specialization &specialization,
                      const Candidate &candidate, const RenderedSlice &rendered,
                      const std::vector<TunableParam> &tunables) {
  SharedCode shared;
  std::set<std::string> free;
  for (std::size_t i = 0; i < specialization.chunks.size() && i < rendered.chunks.size(); ++i) {
    const SliceChunk &chunk = specialization.chunks[i];
    if (chunk.users.empty())
      continue;
    if (const std::set<std::string> names =
            retuned(chunk, kernel, specialization, candidate, tunables);
        !names.empty()) {
      free.insert(names.begin(), names.end());
      continue;
    }
    shared.texts.push_back({chunk.name, userText(chunk.users.front()), chunk.sliceBegin,
                            chunk.sliceEnd, rendered.chunks[i].first, rendered.chunks[i].second});
  }
  const std::vector<CandidateDeclaration> declarations = declarationsOf(candidate);
  for (std::size_t i = 0; i < rendered.declarations.size(); ++i) {
    const std::string &file = declarations[i].file;
    if (std::ranges::any_of(kernel.unused,
                            [&](const SliceChunk &chunk) { return chunk.source.file == file; }))
      shared.own.push_back({rendered.declarations[i].first, rendered.declarations[i].second});
  }
  for (const OutsideNamed &outside : kernel.outside)
    if (!free.contains(outside.name))
      shared.names.push_back({outside.name, userText(outside.user), outside.declared});
  return shared;
}

} // namespace kopt
