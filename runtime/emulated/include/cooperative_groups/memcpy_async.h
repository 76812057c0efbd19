// SPDX-License-Identifier: Apache-2.0
// Copies by all threads of a group. From global to shared memory, they are asynchronous copies as wide as the type and
// the alignment allow; otherwise plain copies.
#pragma once

#include "../cooperative_groups.h"
#include "../cuda_pipeline_primitives.h"

namespace cooperative_groups {
namespace detail {

template <class T> struct ElementAlignment {
  static constexpr unsigned value = alignof(T) > 16 ? 16 : alignof(T);
};
template <> struct ElementAlignment<void> {
  static constexpr unsigned value = 1;
};
template <class Element, class Group> KOPT_D void copyPlainly(const Group &group, void *to, const void *from, size_t count) {
  for (size_t i = group.thread_rank(); i < count; i += group.size())
    static_cast<Element *>(to)[i] = static_cast<const Element *>(from)[i];
}
template <unsigned Bytes> struct Word;
template <> struct Word<4> { using type = unsigned; };
template <> struct Word<8> { using type = uint2; };
template <> struct Word<16> { using type = uint4; };
/// Copies as many whole words of `Bytes` bytes as fit in `bytes`.
template <unsigned Bytes, class Group> KOPT_D void copyWords(const Group &group, void *to, const void *from, size_t bytes) {
  if (!__isShared(to) || !__isGlobal(from))
    return copyPlainly<typename Word<Bytes>::type>(group, to, from, bytes / Bytes);
  for (size_t i = group.thread_rank(); i < bytes / Bytes; i += group.size())
    __pipeline_memcpy_async(static_cast<char *>(to) + i * Bytes, static_cast<const char *>(from) + i * Bytes, Bytes);
}
/// Copies single bytes up to a word boundary, then words, then the remaining bytes.
template <unsigned Bytes, class Group> KOPT_D void copyMostlyWords(const Group &group, char *to, const char *from, size_t bytes) {
  const size_t before = -(size_t)from & (Bytes - 1), words = (bytes - before) & ~(size_t)(Bytes - 1);
  copyPlainly<char>(group, to, from, before);
  copyWords<Bytes>(group, to + before, from + before, words);
  copyPlainly<char>(group, to + before + words, from + before + words, bytes - before - words);
}
template <class Group> KOPT_D void copyAsync(const Group &group, void *to, const void *from, size_t bytes, unsigned alignment) {
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  // The alignment of the type is trusted.
  if (alignment == 16)
    return copyWords<16>(group, target, source, bytes);
  if (alignment == 8)
    return copyWords<8>(group, target, source, bytes);
  if (alignment == 4)
    return copyWords<4>(group, target, source, bytes);
  const unsigned apart = (unsigned)((size_t)target ^ (size_t)source) & 15;
  const unsigned common = apart == 0 ? 16 : apart & -apart;
  if (common == 1 || bytes < common)
    return copyPlainly<char>(group, target, source, bytes);
  if (common == 2)
    return alignment == 2 ? copyPlainly<short>(group, target, source, bytes / 2) : copyPlainly<char>(group, target, source, bytes);
  if (common == 4)
    return copyMostlyWords<4>(group, target, source, bytes);
  return common == 8 ? copyMostlyWords<8>(group, target, source, bytes) : copyMostlyWords<16>(group, target, source, bytes);
}

} // namespace detail

template <class Group, class T, class Size> KOPT_D void memcpy_async(const Group &group, T *to, const T *from, const Size &bytes) {
  detail::copyAsync(group, to, from, (size_t)bytes, detail::ElementAlignment<T>::value);
  __pipeline_commit();
}
/// The sizes are numbers of elements; the smaller one is the number copied.
template <class Group, class T, class TargetSize, class SourceSize>
KOPT_D void memcpy_async(const Group &group, T *to, const TargetSize &targets, const T *from, const SourceSize &sources) {
  const size_t count = (size_t)targets < (size_t)sources ? (size_t)targets : (size_t)sources;
  detail::copyAsync(group, to, from, count * sizeof(T), detail::ElementAlignment<T>::value);
  __pipeline_commit();
}
template <unsigned Stage, class Group> KOPT_D void wait_prior(const Group &group) {
  __pipeline_wait_prior(Stage);
  group.sync();
}
template <class Group> KOPT_D void wait(const Group &group) {
  __pipeline_wait_prior(0);
  group.sync();
}

} // namespace cooperative_groups
