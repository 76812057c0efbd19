// SPDX-License-Identifier: Apache-2.0
#include "driver/report/Report.h"

#include "driver/report/document/Markdown.h"
#include "driver/report/html/HtmlReport.h"
#include "driver/report/sections/Sections.h"

namespace kopt {
namespace {

/// Its figures refer to `facts`.
Document documentOf(const RunFacts &facts) {
  Document document = headOf(facts);
  document.add(timesSection(facts));
  document.add(programSection(facts));
  document.add(changeSection(facts));
  document.add(causesSection(facts));
  document.add(hotLinesSection(facts));
  document.add(rooflineSection(facts));
  document.add(checksSection(facts));
  document.add(searchSection(facts));
  document.add(candidatesSection(facts));
  document.add(storySection(facts));
  document.add(provenanceSection(facts));
  return document;
}

} // namespace

std::string renderMarkdown(const RunHistory &history) {
  return toMarkdown(documentOf(RunFacts(history)));
}

std::string renderHtml(const RunHistory &history) {
  const RunFacts facts(history);
  return toHtml(documentOf(facts));
}

} // namespace kopt
