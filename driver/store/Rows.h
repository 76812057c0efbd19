// SPDX-License-Identifier: Apache-2.0
// Converts records to columns of a row and back. Each function reads or binds the next columns, in
// the order of the statements in Store.cpp.
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
Decision readDecision(Statement &row);
ModelCall readCall(Statement &row);
/// Reads all rows of a query for path, base_hash, result_hash, first_byte, end_byte and text that
/// is ordered by path and position.
Result<std::vector<FileEdits>> readEdits(Statement &query);

} // namespace kopt
