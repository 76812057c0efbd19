// SPDX-License-Identifier: Apache-2.0
// Sessions as rows of their tables.
#pragma once

#include "driver/model/Session.h"
#include "driver/store/Database.h"

namespace kopt {

/// Writes the session in place of the one with its id, as a part of the caller's transaction, and
/// returns its id. The patches are hashes of stored texts.
Result<std::int64_t> writeSession(Database &database, const SessionRecord &session,
                                  const std::string &confirmedPatch,
                                  const std::string &offeredPatch);

/// All of them, in the order of their ids.
Result<std::vector<SessionRecord>> readSessions(Database &database);

} // namespace kopt
