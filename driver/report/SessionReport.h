// SPDX-License-Identifier: Apache-2.0
// What one `kopt tune` came to: kopt.out/<session>/ with summary.html, summary.md, session.json
// and its patches. Functions of the database alone.
#pragma once

#include "driver/report/facts/SessionFacts.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

std::string renderSession(const SessionRecord &session);
std::string renderSessionJson(const SessionRecord &session);

/// Writes the folder; files that are there already are replaced. Fails with Environment naming the
/// file that could not be written.
Status writeSessionFolder(const SessionRecord &session, const std::filesystem::path &folder);

} // namespace kopt
