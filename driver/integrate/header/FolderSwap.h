// SPDX-License-Identifier: Apache-2.0
// Changes several files of a folder in one step.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <map>
#include <string>

namespace kopt {

/// Writes these files to `folder`, in addition to those that it has; an empty text removes a file.
/// The new folder is made beside the old one and replaces it in one step. Other processes therefore
/// see the old folder or the one with all changes, and a kill leaves one of the two and at most a
/// hidden folder beside it, which the next call removes. On file systems that cannot exchange two
/// folders, the folder is missing for some microseconds. Fails with Usage if the folder contains
/// anything but plain files, and with Environment if something cannot be written; the folder is
/// then unchanged.
Status changeFolder(const std::filesystem::path &folder,
                    const std::map<std::string, std::string> &files);

} // namespace kopt
