// SPDX-License-Identifier: Apache-2.0
// What earlier runs taught that helps a run of `kopt tune`: edits of the same text, those of this
// architecture first; and how often each technique gained, on kernels of its kind and anywhere.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/knowledge/Precedents.h"
#include "driver/model/Run.h"
#include "driver/search/policy/Beliefs.h"

namespace kopt {

struct Recalled {
  std::vector<Remembered> edits{}; ///< of the same text
  std::map<std::string, Prior> priors{};
  Precedents precedents{};
  std::string rests; ///< for the user: on what it rests; empty: nothing is known
};

/// What was known when the run began. `baseline`: with its counters. `withPriors`: the strategy
/// reads them.
Result<Recalled> recall(ExperienceBase &base, Workbench &bench, const TuneSubject &subject,
                        const RunRecord &run, const Trial &baseline, bool withPriors);

} // namespace kopt
