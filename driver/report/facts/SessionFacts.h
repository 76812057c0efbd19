// SPDX-License-Identifier: Apache-2.0
// What a session came to, in words.
#pragma once

#include "driver/model/Session.h"

#include <cstddef>
#include <string>

namespace kopt {

/// Wins of that state.
std::size_t countOf(const SessionRecord &session, WinState state);

/// The state of the wins that only a flag applies.
WinState offeredState(const SessionRecord &session);

/// One line: "2 of 3 wins hold in the program".
std::string headlineOf(const SessionRecord &session);

/// The flag of `kopt apply` that a win of this state needs; empty: none, or it cannot be applied.
std::string flagOf(WinState state);

/// The patch as a file of the session's folder: confirmed.patch, else modelled.patch or
/// unconfirmed.patch. Empty where no win is left.
std::string patchName(const SessionRecord &session);

} // namespace kopt
