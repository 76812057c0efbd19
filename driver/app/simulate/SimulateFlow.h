// SPDX-License-Identifier: Apache-2.0
// Runs the search for numbers on spaces that were measured before, without a device.
#pragma once

#include "driver/app/simulate/SearchFigures.h"
#include "driver/report/document/Document.h"
#include "driver/search/space/Searcher.h"

#include <filesystem>

namespace kopt {

struct SimulationSettings {
  int repeats = 20;
  std::uint64_t seed = 1; ///< of the first; each repeat has the next
  std::size_t trials = 0; ///< 0: as many as the figures need
  double seconds = 0;     ///< of the recorded time; 0: no limit
  int patience = 0;       ///< rounds without a gain, as in `kopt tune`; 0: no limit
  std::string strategy = "auto";
  std::size_t open = 4; ///< candidates on their way at a time, as in `kopt tune`
  NamedSearcher searcher = searchers().front();
  const RecordedSpace *elsewhere = nullptr; ///< what is known of another GPU or size; null: nothing
};

/// A recorded space from a file, with what is needed to search it.
struct SpaceToSearch {
  std::string name; ///< the file's
  RecordedSpace recorded;
  Space points;
  SearchScale scale;
};

/// Fails with Usage, naming the file.
Result<SpaceToSearch> readSpaceToSearch(const std::filesystem::path &file,
                                        const std::filesystem::path &t1 = {});

struct SimulatedSearch {
  TriedTimes times;            ///< of the trials; the baseline is the first
  std::vector<double> seconds; ///< of the recorded time, when each ended
};

/// The loop of `kopt tune` with the proposer `params` alone, once a repeat. The baseline is the
/// point in the middle of those that ran, as recorded spaces do not say what a user began with.
Result<std::vector<SimulatedSearch>> simulate(const SpaceToSearch &space,
                                              const SimulationSettings &settings);

/// What the searches of spaces came to, for a person: a table, and a drawing for each space of the
/// best fraction of the optimum by trials. `spaces` must outlive the document.
struct ComparedSearch {
  std::string name;
  std::vector<std::vector<TriedTimes>> runs; ///< of each space
};
Document documentOf(const std::vector<SpaceToSearch> &spaces,
                    const std::vector<ComparedSearch> &searches);

} // namespace kopt
