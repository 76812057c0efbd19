// SPDX-License-Identifier: Apache-2.0
// One launch site: the kernels it can start, and with what configuration.
#pragma once

#include "clang_plugin/extract/Geometry.h"
#include "clang_plugin/extract/KernelTargets.h"
#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

class LaunchReader {
public:
  LaunchReader(HostCode &code, UnitFlow &flows) : code_(code), flows_(flows) {}

  KernelTargets kernelsOf(const LaunchCall &site) const;
  /// What the site calls, as it spells it.
  std::string calleeOf(const LaunchCall &site) const;

  struct Reading {
    LaunchSite launch;
    std::vector<NamedConstant> constants; ///< named in the geometry
  };
  /// `target` without a kernel reads what does not depend on it. `shared`: other kernels are
  /// launched by the same text, which can therefore not be edited for one of them.
  Reading read(const LaunchCall &site, const KernelTarget &target, bool shared,
               const std::function<bool(const NamedConstant &)> &mayName) const;

private:
  std::optional<SourceRange> rangeOf(const clang::Expr *expression) const;

  HostCode &code_;
  UnitFlow &flows_;
};

} // namespace kopt::frontend
