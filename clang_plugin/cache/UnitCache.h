// SPDX-License-Identifier: Apache-2.0
// extractUnit() with a cache: the result for a unit whose inputs are unchanged is read from a file.
#pragma once

#include "clang_plugin/cache/EntryStore.h"
#include "clang_plugin/extract/Extract.h"

namespace kopt::frontend {

class UnitCache {
public:
  /// `folder` is the user's cache folder of kopt; empty: nothing is remembered.
  explicit UnitCache(const std::string &folder);

  /// Returns what extractUnit() returns. May be called by several threads at once.
  UnitOutcome extract(const ExtractUnit &unit, const ExtractOptions &options,
                      ExtractionResult &extraction);

  /// The number of results that came from the cache.
  unsigned hits() const { return hits_; }

  /// Reduces the folder to KOPT_CACHE_LIMIT (MiB; 512 if unset). To be called at the end of a run.
  void trim() const;

private:
  EntryStore store_;
  std::atomic<unsigned> hits_ = 0;
};

} // namespace kopt::frontend
