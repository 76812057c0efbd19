// SPDX-License-Identifier: Apache-2.0
// extractUnit() with a memory: a unit whose inputs are what they were is answered from a file.
#pragma once

#include "clang_plugin/cache/EntryStore.h"
#include "clang_plugin/extract/Extract.h"

namespace kopt::frontend {

class UnitCache {
public:
  /// `folder` is the user's cache folder of kopt; empty: nothing is remembered.
  explicit UnitCache(const std::string &folder);

  /// As extractUnit(), whose answer it is. Safe from several threads.
  UnitOutcome extract(const ExtractUnit &unit, const ExtractOptions &options,
                      ExtractionResult &extraction);

  /// How many answers were kept ones.
  unsigned hits() const { return hits_; }

  /// Keeps the folder within KOPT_CACHE_LIMIT (MiB, 512 if it says nothing). At the end of a run.
  void trim() const;

private:
  EntryStore store_;
  std::atomic<unsigned> hits_ = 0;
};

} // namespace kopt::frontend
