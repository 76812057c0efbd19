// SPDX-License-Identifier: Apache-2.0
// What else in a translation unit uses the text of a slice. A candidate for one kernel replaces
// text that other kernels and host functions may depend on, and may declare names that they use;
// these do not run while the candidate is judged.
#pragma once

#include "clang_plugin/slice/Slice.h"

namespace kopt::frontend {

class UnitUses {
public:
  UnitUses(const SourceIndex &host, const SourceIndex &device);

  /// Fills in the users of each chunk of a kernel's slices except the kernel's own. `enclosing`, a
  /// host function without which the kernel cannot be named, and code that uses it are not users of
  /// what it uses.
  void findUsers(std::vector<SliceText> &slices, const clang::FunctionDecl *enclosing) const;

  /// Names that code outside the slice calls, declares or spells, sorted.
  std::vector<OutsideNamed> namesOutside(const SliceText &slice) const;

  /// Fills in the users of those chunks that are variables.
  void findUsersOfVariables(std::vector<SliceChunk> &unused) const;

private:
  struct Node {
    OutsideUser user;
    bool isUser = false; ///< a function or a variable; types, aliases, constants and macros matter
                         ///< through what uses them
    bool isForDevice = false; ///< a function that no host code can call
    std::set<std::size_t> uses;
  };
  /// Which nodes call or declare a name, and which spell it, in the order of nodes.
  struct Naming {
    std::vector<std::size_t> declaring, spelling;
  };
  using Place =
      std::pair<std::string, std::uint64_t>; ///< file and first byte: equal in both passes

  void add(const SourceIndex &index);
  std::set<std::size_t> nodesOf(const SliceText &slice) const;
  std::vector<std::vector<std::size_t>> firstUsers(const std::set<std::size_t> &slice,
                                                   const std::set<std::size_t> &closed) const;
  std::vector<OutsideUser> usersOf(std::size_t node, const std::vector<std::size_t> &first) const;

  const SourceIndex &host_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> order_; ///< of nodes that are users, as users are listed
  std::map<std::string, Naming> names_;
  std::map<Place, std::size_t> nodeAt_;
};

} // namespace kopt::frontend
