// SPDX-License-Identifier: Apache-2.0
// The outcome of a session, in words.
#pragma once

#include "driver/model/Session.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kopt {

/// The number of wins with that state.
std::size_t countOf(const SessionRecord &session, WinState state);

/// The state of the wins that `kopt apply` applies only with a flag.
WinState offeredState(const SessionRecord &session);

/// One line: "2 of 3 wins hold in the program".
std::string headlineOf(const SessionRecord &session);

/// The flag that `kopt apply` needs for a win with this state; empty: none needed, or it cannot be
/// applied.
std::string flagOf(WinState state);

/// What a win gains by each of several commands that run the program: "by './app 7': …".
std::vector<std::string> runsInWords(const SessionWin &win);

/// The name of the patch in the session's folder: confirmed.patch, else modelled.patch or
/// unconfirmed.patch. Empty if no win is left.
std::string patchName(const SessionRecord &session);

} // namespace kopt
