// SPDX-License-Identifier: Apache-2.0
// An extraction as the JSON document that output/kernels.schema.json describes.
#pragma once

#include "clang_plugin/output/Model.h"

#include <nlohmann/json_fwd.hpp>

namespace kopt::frontend {

nlohmann::json toJson(const Extraction &extraction);

} // namespace kopt::frontend
