// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend reference`: JSON in, JSON out.
#include "clang_plugin/reference/Reference.h"
#include "clang_plugin/tool/JsonExchange.h"
#include "clang_plugin/tool/Tools.h"

#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

namespace {

json toJson(const std::vector<ReferenceNote> &notes) {
  json result = json::array();
  for (const ReferenceNote &note : notes)
    result.push_back({{"id", note.id}, {"message", note.message}, {"line", note.line}});
  return result;
}

json toJson(const ElementLayout &layout) {
  json fields = json::array();
  for (const ElementField &field : layout.fields)
    fields.push_back({{"offset", field.offset},
                      {"new_offset", field.newOffset},
                      {"scalar", field.scalar},
                      {"new_scalar", field.newScalar}});
  return {{"size", layout.size}, {"new_size", layout.newSize}, {"fields", fields}};
}

json toJson(const ReferenceClone &clone) {
  if (!clone.refusals.empty())
    return {{"ok", false}, {"refusals", toJson(clone.refusals)}};
  json reply = {{"ok", true},
                {"slice", clone.slice},
                {"expression", clone.expression},
                {"symbol", clone.symbol},
                {"params", json::array()},
                {"variables", json::array()},
                {"shared_factor", clone.sharedFactor},
                {"notes", toJson(clone.notes)}};
  for (const ReferenceParam &param : clone.params)
    reply["params"].push_back(
        {{"name", param.name}, {"pointer", param.pointer}, {"element", toJson(param.element)}});
  for (const ReferenceVariable &variable : clone.variables)
    reply["variables"].push_back({{"name", variable.name},
                                  {"count", variable.count},
                                  {"element", toJson(variable.element)}});
  return reply;
}

} // namespace

int runReference(int, const char **) {
  return answerRequest([](const KernelSource &source) -> llvm::Expected<json> {
    auto clone = makeReferenceClone(source);
    if (!clone)
      return clone.takeError();
    return toJson(*clone);
  });
}

} // namespace kopt::frontend
