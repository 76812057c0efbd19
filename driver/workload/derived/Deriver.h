// SPDX-License-Identifier: Apache-2.0
// What is derived in the same way from declared and from captured launches.
#pragma once

#include "driver/workload/derived/AliasedBuffers.h"
#include "driver/workload/derived/DerivedLaunch.h"
#include "driver/workload/derived/OtherScalars.h"

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

class DeriverBase {
protected:
  DeriverBase(const DerivationSource &source, const Launch &launch)
      : source_(source), launch_(launch) {}

  /// Adds a launch and returns it; if it cannot be made, notes why and returns null.
  DerivedLaunch *add(Derivation kind, std::string title, Result<Launch> launch) {
    const auto broken = launch ? brokenRequirement(source_, *launch, launch->bindings)
                               : std::optional<std::string>();
    if (!launch || broken) {
      miss(kind, std::move(title),
           broken ? fmt::format("'require {}' does not hold there", *broken) : launch.error().what);
      return nullptr;
    }
    launch->name = fmt::format("{} ({})", launch_.name, title);
    return &out_.launches.emplace_back(
        DerivedLaunch{{}, kind, std::move(title), std::move(*launch)});
  }

  void miss(Derivation kind, std::string title, std::string why) {
    out_.missing.push_back({kind, std::move(title), std::move(why)});
  }
  void miss(Derivation kind, std::string why) { miss(kind, toString(kind), std::move(why)); }

  /// `launch` with each buffer beginning some bytes further in its allocation. The bytes before it
  /// are unused.
  static Launch shifted(Launch launch, const std::vector<std::uint64_t> &by) {
    for (Argument &argument : launch.arguments)
      if (auto *pointer = std::get_if<BufferArg>(&argument))
        pointer->offset += by[pointer->buffer];
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
      if (Buffer &buffer = launch.buffers[b]; by[b] != 0) {
        buffer.bytes += by[b];
        buffer.output = false; // its first elements are never written
        if (buffer.fill.kind == FillKind::Values)
          buffer.fill.bytes.insert(0, by[b], '\0');
        else if (buffer.fill.kind == FillKind::Captured)
          buffer.fill.low = double(by[b]); // bytes before the captured ones
      }
    return launch;
  }

  /// Adds `base` with each of the first `most` pointers alone one element further. `elements` are
  /// the bytes of one for each buffer; 0: it stays.
  void addEachFurther(const Launch &base, const std::vector<std::uint64_t> &elements,
                      std::size_t most) {
    for (std::size_t b = 0, shown = 0; b < elements.size() && shown < most; ++b) {
      if (elements[b] == 0)
        continue;
      ++shown;
      std::vector<std::uint64_t> alone(elements.size(), 0);
      alone[b] = elements[b];
      add(Derivation::Alignment,
          fmt::format("'{}' alone one element further", base.buffers[b].name),
          shifted(base, alone));
    }
  }

  void addInPlace(const Launch &base) {
    if (auto made = usedInPlace(source_.specialization, base))
      if (DerivedLaunch *added = add(made->kind, made->title, std::move(made->launch)))
        added->inPlace = std::move(made->inPlace);
  }

  /// Adds a launch of only the first blocks of the grid, as a rectangle.
  void addPart(const Launch &base, std::uint64_t blocks) {
    auto made = withFirstBlocks(base, blocks);
    if (!made)
      return;
    const std::string title =
        fmt::format("the first {} of {} blocks of the grid", made->grid.count(), base.grid.count());
    if (DerivedLaunch *added = add(Derivation::Sizes, title, std::move(*made)))
      added->isPart = true;
  }

  const DerivationSource &source_;
  const Launch &launch_; ///< that others are derived from
  DerivedLaunches out_;
};

} // namespace kopt
