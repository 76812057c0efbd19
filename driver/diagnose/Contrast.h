// SPDX-License-Identifier: Apache-2.0
// What differs between versions of a kernel: the present one, the one it was made from, and what
// was tried on it.
#pragma once

#include "driver/model/Counters.h"
#include "driver/model/Diagnosis.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// A version that counters were read of. What it names must outlive the comparison.
struct ContrastVersion {
  std::string name; ///< "present", "parent", "attempt"
  const Counters &counters;
  const Diagnosis &diagnosis;
};

struct ContrastRow {
  std::string counter;                       ///< a metric
  std::vector<std::optional<double>> values; ///< of each version; nothing: not known
  bool binds = false; ///< a rule that fires on one of the versions rests on it
};

struct Contrast {
  std::vector<std::string> versions, states, bounds;
  std::vector<ContrastRow> rows; ///< those that bind first, then those that moved most
};

/// The counters that bind or differ by more than they do from run to run. Of those with a label
/// (CounterTable.h) also what one version lacks, and all if there is a single version.
Contrast contrastOf(const std::vector<ContrastVersion> &versions);

/// As a table in plain text, with a column for each version; empty without counters.
std::string inText(const Contrast &contrast);

} // namespace kopt
