// SPDX-License-Identifier: Apache-2.0
// Reads a launch site: the kernels that it can start, and its configuration.
#pragma once

#include "clang_plugin/extract/Geometry.h"
#include "clang_plugin/extract/KernelTargets.h"
#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

class LaunchReader {
public:
  LaunchReader(HostCode &code, UnitFlow &flows) : code_(code), flows_(flows) {}

  KernelTargets kernelsOf(const LaunchCall &site) const;
  /// The callee of the site, as spelled there.
  std::string calleeOf(const LaunchCall &site) const;

  struct Reading {
    LaunchSite launch;
    std::vector<NamedConstant> constants; ///< that the geometry names
  };
  /// Reads the site for one of its kernels; if `target` has no kernel, reads only what does not
  /// depend on it. `shared`: the same text launches other kernels too, so it cannot be edited for
  /// one of them.
  Reading read(const LaunchCall &site, const KernelTarget &target, bool shared,
               const std::function<bool(const NamedConstant &)> &mayName) const;

private:
  std::optional<SourceRange> rangeOf(clang::SourceRange written) const;
  /// The variable that the grid or the block of the site is.
  std::optional<LaunchVariable> launchVariable(const clang::Expr *argument, const LaunchCall &site,
                                               const LaunchSite &launch) const;

  HostCode &code_;
  UnitFlow &flows_;
};

} // namespace kopt::frontend
