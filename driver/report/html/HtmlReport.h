// SPDX-License-Identifier: Apache-2.0
// Writes a document as one self-contained HTML page.
#pragma once

#include "driver/report/document/Document.h"

namespace kopt {

std::string toHtml(const Document &document);

} // namespace kopt
