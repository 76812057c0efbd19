// SPDX-License-Identifier: Apache-2.0
// A folder of files replaced as a whole.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <string>

namespace kopt {

/// Makes `folder` hold these files beside those that it has; an empty text removes a file. What
/// others see is the folder as it was, or with all changes: it is made beside and takes the old
/// one's place in one step, so a kill at any moment leaves one of the two, and at most a hidden
/// folder beside it, which the next call removes. File systems that cannot exchange two folders
/// have a gap of microseconds in which there is none. Fails with Usage where the folder holds
/// others, and with Environment where something cannot be written; it is then as it was.
Status changeFolder(const std::filesystem::path &folder,
                    const std::map<std::string, std::string> &files);

} // namespace kopt
