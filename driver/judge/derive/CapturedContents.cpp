// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/CapturedContents.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/support/ElementType.h"
#include "runtime/runner/StructType.h"
#include "runtime/trace/Contents.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kopt {
namespace {

namespace trace = runtime::trace;

/// True if any aligned word of eight bytes is an address within a buffer of the launch.
bool holdsAddress(const Launch &launch, std::string_view bytes) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const auto word = loadAs<std::uint64_t>(bytes.data() + at);
    for (const Buffer &buffer : launch.buffers)
      if (buffer.address != 0 && word - buffer.address < std::max<std::uint64_t>(1, buffer.bytes))
        return true;
  }
  return false;
}

} // namespace

ContentsReader::ContentsReader(std::string scalar, std::uint64_t total, bool isComplete)
    : scalar_(std::move(scalar)), total_(total),
      every_(std::max<std::uint64_t>(1, total / kSample)), isSorted_(isComplete) {
  if (isComplete && !isFloating(scalar_) && total <= kLargestSize)
    seen_.resize(total);
}

void ContentsReader::add(std::string_view bytes) {
  if (runtime::scalarBytes(scalar_) == 0)
    return; // not a number
  withElementType(scalar_, [&]<class Type>(Type) {
    for (std::uint64_t at = 0; at + Type::kSize <= bytes.size(); at += Type::kSize)
      add(Type::value(bytes.data() + at));
  });
}

void ContentsReader::add(double value) {
  ++count_;
  if (!std::isfinite(value))
    return;
  if (finite_ == 0)
    least_ = most_ = value;
  least_ = std::min(least_, value);
  most_ = std::max(most_, value);
  isWhole_ &= value == std::floor(value);
  isSorted_ &= finite_ == 0 || value >= last_;
  last_ = value;
  if (finite_++ % every_ == 0)
    sample_.push_back(value);
  if (seen_.empty())
    return;
  if (value < 0 || value >= double(seen_.size()) || seen_[std::size_t(value)])
    seen_.clear();
  else
    seen_[std::size_t(value)] = true;
}

ContentsSummary ContentsReader::summary() const {
  ContentsSummary result;
  result.count = count_;
  if (finite_ == 0)
    return result;
  result.isConstant = least_ == most_;
  result.isWhole = isWhole_;
  result.isSorted = isSorted_ && finite_ == count_;
  result.isPermutation = !seen_.empty() && finite_ == total_;
  result.low = least_;
  result.high = most_;
  // Unused memory may hold anything: a few numbers far from all others are not data.
  std::vector<double> sorted = sample_;
  std::sort(sorted.begin(), sorted.end());
  const double first = sorted[sorted.size() / 1000],
               last = sorted[sorted.size() - 1 - sorted.size() / 1000];
  const double room = 100 * (last - first);
  if (last > first && !result.isSorted && !result.isPermutation) {
    result.low = std::max(least_, first - room);
    result.high = std::min(most_, last + room);
  }
  return result;
}

namespace {

tl::expected<ContentsSummary, std::string> summarize(const Launch &launch, std::size_t index) {
  const Buffer &buffer = launch.buffers[index];
  const bool isUntyped = buffer.scalar == "u8" && (buffer.holdsPointers || !buffer.symbol.empty());
  if (runtime::scalarBytes(buffer.scalar) == 0 || isUntyped)
    return tl::unexpected(fmt::format("the element type of '{}' is not known", buffer.name));
  std::string why;
  const auto file = trace::ContentsFile::open(buffer.fill.path, why);
  if (!file)
    return tl::unexpected(why);
  const std::uint64_t bytes = std::min(file->bytes(), buffer.bytes);
  const std::uint64_t pieces = (bytes + trace::kPieceBytes - 1) / trace::kPieceBytes;
  const std::uint64_t wanted = std::min(pieces, kMostFar / trace::kPieceBytes);
  ContentsReader reader(buffer.scalar,
                        (wanted == pieces ? bytes : wanted * trace::kPieceBytes) /
                            elementBytes(buffer.scalar),
                        wanted == pieces);
  std::string piece;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t offset = i * pieces / wanted * trace::kPieceBytes;
    piece.resize(std::size_t(std::min(trace::kPieceBytes, bytes - offset)));
    if (!file->read(offset, piece.size(), reinterpret_cast<std::byte *>(piece.data()), why))
      return tl::unexpected(why);
    if (buffer.holdsPointers && holdsAddress(launch, piece))
      return tl::unexpected(fmt::format("'{}' holds addresses", buffer.name));
    reader.add(piece);
  }
  const ContentsSummary summary = reader.summary();
  if (summary.count == 0)
    return tl::unexpected(fmt::format("'{}' is empty", buffer.name));
  return summary;
}

} // namespace

tl::expected<Fill, std::string> likeContents(const Launch &launch, std::size_t buffer,
                                             const Fill *range) {
  auto read = summarize(launch, buffer);
  if (!read)
    return tl::unexpected(std::move(read.error()));
  const auto [low, high] =
      range ? std::pair(range->low, range->high) : std::pair(read->low, read->high);
  if (read->isConstant)
    return Fill{low == 0 ? FillKind::Zero : FillKind::Constant, low, low};
  if (read->isPermutation || read->isSorted)
    return Fill{read->isPermutation ? FillKind::Permutation : FillKind::Sorted, low, high};
  const bool isWhole = read->isWhole && isFloating(launch.buffers[buffer].scalar);
  return Fill{isWhole ? FillKind::Integers : FillKind::Uniform, low, high};
}

} // namespace kopt
