// SPDX-License-Identifier: Apache-2.0
// A trial in words and as JSON (docs/json.md).
#pragma once

#include "driver/app/trial/TrialFlow.h"
#include "driver/support/Terminal.h"

#include <nlohmann/json.hpp>

namespace kopt {

Style styleOf(Verdict verdict);

/// `out`: paints the verdict; null: nobody does.
std::string inText(const TrialOutcome &outcome, const Terminal *out = nullptr);
nlohmann::json toJson(const TrialOutcome &outcome);

} // namespace kopt
