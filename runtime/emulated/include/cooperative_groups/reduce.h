// SPDX-License-Identifier: Apache-2.0
// reduce() over tiles and coalesced groups.
#pragma once

#include "../kopt_emulated/group_operators.h"

namespace cooperative_groups {

template <unsigned Size, class Parent, class T, class Operation>
KOPT_D auto reduce(const thread_block_tile<Size, Parent> &tile, T value, Operation &&operation) -> decltype(operation(value, value)) {
  for (unsigned lanes = Size / 2; lanes > 0; lanes /= 2)
    value = operation(value, tile.shfl_xor(value, lanes));
  return value;
}
/// For any number of threads: combines the upper half into the lower one repeatedly, then gives all threads the result.
template <class T, class Operation>
KOPT_D auto reduce(const coalesced_group &group, T value, Operation &&operation) -> decltype(operation(value, value)) {
  for (unsigned left = group.size(), half; left > 1; left = half) {
    half = (left + 1) / 2;
    T other = group.shfl_down(value, half);
    if (group.thread_rank() + half < left)
      value = operation(value, other);
  }
  return group.shfl(value, 0);
}

} // namespace cooperative_groups
