// SPDX-License-Identifier: Apache-2.0
// The operators of <cooperative_groups/reduce.h> and <cooperative_groups/scan.h>.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define KOPT_GROUP_OPERATOR(NAME, EXPRESSION)                                                      \
  template <class T> struct NAME {                                                                 \
    KOPT_D_MEMBER T operator()(T a, T b) const { return EXPRESSION; }                              \
  };
KOPT_GROUP_OPERATOR(plus, a + b)
KOPT_GROUP_OPERATOR(less, b < a ? b : a)
KOPT_GROUP_OPERATOR(greater, a < b ? b : a)
KOPT_GROUP_OPERATOR(bit_and, a &b)
KOPT_GROUP_OPERATOR(bit_or, a | b)
KOPT_GROUP_OPERATOR(bit_xor, a ^ b)
#undef KOPT_GROUP_OPERATOR

} // namespace cooperative_groups
