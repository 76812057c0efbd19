// SPDX-License-Identifier: Apache-2.0
// What one `kopt tune` came to: kopt.out/<session>/ with summary.md, session.json and its patches.
// Functions of the database alone.
#pragma once

#include "driver/model/Session.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

/// One line: "2 of 3 wins hold in the program".
std::string headlineOf(const SessionRecord &session);

/// The flag of `kopt apply` that a win of this state needs; empty: none, or it cannot be applied.
std::string flagOf(WinState state);

std::string renderSession(const SessionRecord &session);
std::string renderSessionJson(const SessionRecord &session);

/// The patch as a file of the session's folder: confirmed.patch, else modelled.patch or
/// unconfirmed.patch. Empty where no win is left.
std::string patchName(const SessionRecord &session);

/// Writes the folder; files that are there already are replaced. Fails with Environment naming the
/// file that could not be written.
Status writeSessionFolder(const SessionRecord &session, const std::filesystem::path &folder);

} // namespace kopt
