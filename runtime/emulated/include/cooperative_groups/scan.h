// SPDX-License-Identifier: Apache-2.0
// Prefix scans over tiles and coalesced groups.
#pragma once

#include "../kopt_emulated/group_operators.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
KOPT_D auto inclusive_scan(const Group &group, T value, Operation &&operation) -> decltype(operation(value, value)) {
  for (unsigned reach = 1; reach < group.size(); reach *= 2) {
    T other = group.shfl_up(value, reach);
    if (group.thread_rank() >= reach)
      value = operation(other, value);
  }
  return value;
}
template <class Group, class T> KOPT_D T inclusive_scan(const Group &group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
/// The first thread gets T().
template <class Group, class T, class Operation>
KOPT_D auto exclusive_scan(const Group &group, T value, Operation &&operation) -> decltype(operation(value, value)) {
  T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> KOPT_D T exclusive_scan(const Group &group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups
