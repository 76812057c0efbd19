// SPDX-License-Identifier: Apache-2.0
// Who else of a translation unit uses what a slice is made of. A candidate for one kernel replaces
// text that other kernels and host functions may stand on, too, and takes names that they may call:
// those are not run while it is judged.
#pragma once

#include "clang_plugin/slice/Slice.h"

namespace kopt::frontend {

class UnitUses {
public:
  UnitUses(const SourceIndex &host, const SourceIndex &device);

  /// Fills in the users of each chunk of a slice but the kernel's own. What uses `enclosing`, a
  /// host function without which the kernel cannot be named, is no user of what it holds.
  void findUsers(SliceText &slice, const clang::FunctionDecl *enclosing) const;

  /// Names that code outside of the slice calls, declares or spells, by name.
  std::vector<OutsideNamed> namesOutside(const SliceText &slice) const;

  /// Fills in the users of those that are variables.
  void findUsersOfVariables(std::vector<SliceChunk> &unused) const;

private:
  struct Node {
    OutsideUser user;
    bool isUser = false; ///< a function or a variable; types, aliases, constants and macros matter
                         ///< through what uses them
    bool isForDevice = false; ///< a function that no host code can call
    std::set<std::string> calls;
    std::set<std::string> words;
    std::set<std::size_t> usedBy;
  };
  using Place =
      std::pair<std::string, std::uint64_t>; ///< file and first byte: equal in both passes

  void add(const SourceIndex &index);
  std::set<std::size_t> nodesOf(const SliceText &slice) const;
  std::vector<OutsideUser> usersOf(std::size_t node, const std::set<std::size_t> &slice,
                                   const std::set<std::size_t> &closed) const;

  const SourceIndex &host_;
  std::vector<Node> nodes_;
  std::map<Place, std::size_t> nodeAt_;
};

} // namespace kopt::frontend
