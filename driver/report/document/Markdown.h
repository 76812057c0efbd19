// SPDX-License-Identifier: Apache-2.0
// Writes a document as Markdown, without its drawings.
#pragma once

#include "driver/report/document/Document.h"

namespace kopt {

std::string toMarkdown(const Document &document);

} // namespace kopt
