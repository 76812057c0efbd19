// SPDX-License-Identifier: Apache-2.0
// Records as columns of a row. Each function takes or binds the next columns, in the order in which
// Store.cpp's statements name them.
#pragma once

#include "driver/model/Decision.h"
#include "driver/model/ModelCall.h"
#include "driver/model/Run.h"
#include "driver/model/Trial.h"
#include "driver/store/Database.h"

namespace kopt {

void bindSpeedup(Statement &statement, const Speedup &speedup);
Speedup readSpeedup(Statement &row);
RunRecord readRun(Statement &row);
/// NULL where the search has not ended.
void bindStop(Statement &statement, const RunRecord &run);
Decision readDecision(Statement &row);
ModelCall readCall(Statement &row);
/// All rows of a query of path, base_hash, result_hash, first_byte, end_byte and text, by path and
/// position.
Result<std::vector<FileEdits>> readEdits(Statement &query);

} // namespace kopt
