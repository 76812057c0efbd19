// SPDX-License-Identifier: Apache-2.0
// Three-way merge of C++ text by its words, so that two changes of one line need not meet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kopt {

/// `base` with the changes that `one` and `other` each make of it. Nothing if two of them meet:
/// they change the same words, or neighbouring ones. A change that both make alike counts once.
std::optional<std::string> mergeTexts(std::string_view base, std::string_view one,
                                      std::string_view other);

} // namespace kopt
