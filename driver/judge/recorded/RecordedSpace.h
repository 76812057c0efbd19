// SPDX-License-Identifier: Apache-2.0
// A space of which points were measured before, by kopt or by another tuner, and the files in which
// tuners exchange them: cache files of Kernel Tuner, and T1 (what is tuned) and T4 (what was
// measured) of the field's schema (github.com/odgaard/TuningSchema).
#pragma once

#include "driver/model/Trial.h"
#include "driver/model/TuneDeclaration.h"

#include <nlohmann/json_fwd.hpp>

namespace kopt {

struct RecordedPoint {
  std::vector<double> seconds; ///< of launches; empty: it failed
  Verdict failure = Verdict::RunFailed;
  double cost = 0; ///< seconds that it took to build, check and time it; 0: it is not known

  double mean() const; ///< of `seconds`, which are not empty
};

struct RecordedSpace {
  std::string kernel, device;
  TuneDeclaration declaration; ///< the parameters with their values, and the requirements
  /// By the values in the order of the parameters. Points that are missing were not measured.
  std::map<std::vector<std::int64_t>, RecordedPoint> points;
};

/// Reads a cache file of Kernel Tuner or a T4 file, of which T1 says the order of the values and
/// the requirements where it is given. Fails with Usage if the file is neither, if a value is not
/// a whole number, and if no point ran.
Result<RecordedSpace> readRecordedSpace(const nlohmann::json &file,
                                        const nlohmann::json *t1 = nullptr);

enum class RecordFormat { KernelTuner, T1, T4 };
constexpr auto spellings(RecordFormat) {
  return std::to_array<std::string_view>({"kernel-tuner", "t1", "t4"});
}
nlohmann::json writeRecordedSpace(const RecordedSpace &space, RecordFormat format);

} // namespace kopt
