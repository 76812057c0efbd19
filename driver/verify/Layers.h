// SPDX-License-Identifier: Apache-2.0
// The layers that stand between a candidate and a win, by name. Each can be left out to see what else would notice; what
// is judged without one of them is no verdict.
#pragma once

#include "driver/support/Result.h"

#include <set>
#include <string>
#include <vector>

namespace kopt {

struct LayerInfo {
  const char *name;
  const char *purpose; ///< one line
};

/// In the order in which they have their say. A layer is a check of every launch (guards, inputs, unwritten, races), a set
/// of launches (outputs to schedule), or a condition on a win (timed to demands).
const std::vector<LayerInfo> &allLayers();

/// One line on a layer; empty where there is none of that name.
std::string purposeOf(const std::string &layer);

/// Which layers are left out.
class LayerSwitches {
public:
  LayerSwitches() = default;
  /// Fails with Usage, naming the layers there are, where one of them is unknown.
  static Result<LayerSwitches> without(const std::vector<std::string> &names);

  bool on(const std::string &layer) const { return !off_.contains(layer); }
  bool all() const { return off_.empty(); }
  std::string list() const; ///< of those left out: "sizes, guards"
  /// Those that the runner has to leave out by itself.
  std::vector<std::string> runnerChecks() const;

private:
  std::set<std::string> off_;
};

} // namespace kopt
