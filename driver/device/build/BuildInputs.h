// SPDX-License-Identifier: Apache-2.0
// What decides the result of a build, so that a result is used again only while it is right.
#pragma once

#include "driver/device/Toolchain.h"

#include <cstdint>
#include <optional>

namespace kopt {

/// Hash of all that is known before a build: the request, kopt's version, the state of the
/// compiler's programs, and the environment that compilers read.
std::string keyOfBuild(const BuildRequest &request, const Toolchain &compiler);

/// Hash of the files that a build read or that its flags name, and of those that it would read
/// instead if they were there: a header in a folder that is searched, and what `__has_include` asks
/// for. Below /usr, size and times stand for the content. Nothing if a file changed after `started`
/// (nanoseconds since 1970), or if a text uses __TIME__ or its like.
std::optional<std::string> stateOfInputs(const BuildRequest &request,
                                         const std::vector<std::string> &reads,
                                         std::int64_t started);

} // namespace kopt
