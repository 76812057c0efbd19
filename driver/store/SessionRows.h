// SPDX-License-Identifier: Apache-2.0
// Writes and reads sessions as rows of their tables.
#pragma once

#include "driver/model/Session.h"
#include "driver/store/Database.h"

namespace kopt {

/// Replaces the session that has the same id, within the caller's transaction, and returns the id.
/// The patches are hashes of stored texts.
Result<std::int64_t> writeSession(Database &database, const SessionRecord &session,
                                  const std::string &confirmedPatch,
                                  const std::string &offeredPatch);

/// All sessions, in the order of their ids.
Result<std::vector<SessionRecord>> readSessions(Database &database);

} // namespace kopt
