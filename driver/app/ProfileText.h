// SPDX-License-Identifier: Apache-2.0
// A profile in words and as JSON (docs/json.md).
#pragma once

#include "driver/app/ProfileFlow.h"

#include <iosfwd>
#include <nlohmann/json.hpp>

namespace kopt {

/// Of the lines and of what warps wait for, the first `lines`.
void print(std::ostream &out, const ProfileReport &report, std::size_t lines);
void printDiagnosis(std::ostream &out, const Diagnosis &diagnosis);
nlohmann::json toJson(const ProfileReport &report);

/// If accesses were requested.
void printAccesses(std::ostream &out, const ProfileReport &report);
nlohmann::json accessesJson(const ProfileReport &report);

} // namespace kopt
