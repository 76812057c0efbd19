// SPDX-License-Identifier: Apache-2.0
// The report of one `kopt tune`: kopt.out/<session>/ with summary.html, summary.md, session.json
// and the patches. Functions of the database alone.
#pragma once

#include "driver/report/facts/SessionFacts.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

std::string renderSession(const SessionRecord &session);
std::string renderSessionHtml(const SessionRecord &session);
std::string renderSessionJson(const SessionRecord &session);

/// Writes the folder and replaces existing files. Fails with Environment, naming the file, if one
/// cannot be written.
Status writeSessionFolder(const SessionRecord &session, const std::filesystem::path &folder);

} // namespace kopt
