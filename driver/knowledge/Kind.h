// SPDX-License-Identifier: Apache-2.0
// Which kernels are of a kind, by numbers without names that are known before a search, and what a
// rewrite did in words without names.
#pragma once

#include "driver/knowledge/Experience.h"

#include <map>
#include <string>
#include <utility>

namespace kopt {

/// How far the features of two kernels (KernelPrint) are alike, from 0 to 1: the mixes of their
/// instructions, of what their code has and of their parameters, the sectors that requests touch,
/// and the use of the GPU's parts. Only what is known of both counts.
double likeness(const std::map<std::string, double> &one,
                const std::map<std::string, double> &other);

/// Kernels with at least this likeness are of a kind: each of 15 recorded ones (of HeCBench)
/// with 3.7 of the others on average.
inline constexpr double kOfAKind = 0.75;

using Recipe = std::pair<std::string, std::string>; ///< a rewrite's technique and variantOf()

/// What a rewrite's candidate did, without names of the user's: "launch 128" of "launch in blocks
/// of 128", "unroll 4" of "unroll by 4, line 9: for (...)". `title` begins with the parent's.
std::string variantOf(std::string title, const std::string &parentTitle = {});

} // namespace kopt
