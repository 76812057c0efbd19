// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Json.h"

#include <nlohmann/json.hpp>

namespace kopt::frontend {
namespace {

using nlohmann::json;

json rangeJson(const Range &range) {
  return {{"file", range.file}, {"begin", range.begin}, {"end", range.end}};
}

void addRange(json &object, const char *key, const std::optional<Range> &range) {
  if (range)
    object[key] = rangeJson(*range);
}

json paramJson(const ParamInfo &param) {
  return {{"name", param.name},
          {"type", param.type},
          {"kind", param.kind},
          {"size", param.size},
          {"align", param.align},
          {"scalar", param.scalar},
          {"components", param.components},
          {"pointee_size", param.pointeeSize},
          {"pointee_const", param.pointeeConst},
          {"restrict", param.restrictQualified},
          {"compared_with", param.comparedWith}};
}

json userJson(const UserInfo &user) {
  return {
      {"name", user.name}, {"file", user.file}, {"line", user.line}, {"host", user.onHostAlone}};
}

json chunkJson(const ChunkInfo &chunk) {
  json result = {{"source", rangeJson(chunk.source)},
                 {"slice_begin", chunk.sliceBegin},
                 {"slice_end", chunk.sliceEnd},
                 {"role", chunk.role},
                 {"name", chunk.name},
                 {"editable", chunk.editable},
                 {"users", json::array()}};
  for (const UserInfo &user : chunk.users)
    result["users"].push_back(userJson(user));
  return result;
}

json specializationJson(const SpecializationInfo &specialization) {
  json result = {
      {"symbol", specialization.symbol},         {"file_local", specialization.fileLocal},
      {"expression", specialization.expression}, {"route", specialization.route},
      {"slice", specialization.slicePath},       {"reason", specialization.reason},
      {"proven", specialization.proven},         {"kernel_chunk", specialization.kernelChunk}};
  result["template_args"] = json::array();
  for (const TemplateArgInfo &argument : specialization.templateArgs) {
    json entry = {
        {"name", argument.name}, {"value", argument.value}, {"integral", argument.integral}};
    addRange(entry, "range", argument.range);
    result["template_args"].push_back(std::move(entry));
  }
  result["params"] = json::array();
  for (const ParamInfo &param : specialization.params)
    result["params"].push_back(paramJson(param));
  result["needs"] = json::array();
  for (const LaunchNeedInfo &need : specialization.needs)
    result["needs"].push_back(
        {{"kind", need.kind}, {"name", need.name}, {"file", need.file}, {"line", need.line}});
  result["constant_variables"] = json::array();
  for (const ConstantVariableInfo &variable : specialization.constantVariables)
    result["constant_variables"].push_back({{"name", variable.name},
                                            {"symbol", variable.symbol},
                                            {"bytes", variable.bytes},
                                            {"type", variable.type},
                                            {"scalar", variable.scalar}});
  result["chunks"] = json::array();
  for (const ChunkInfo &chunk : specialization.chunks)
    result["chunks"].push_back(chunkJson(chunk));
  return result;
}

json launchJson(const LaunchInfo &launch) {
  json result = {{"file", launch.file},         {"line", launch.line},
                 {"column", launch.column},     {"symbol", launch.symbol},
                 {"geometry", launch.geometry}, {"grid", launch.grid},
                 {"block", launch.block},       {"shared_bytes", launch.sharedBytes},
                 {"args", launch.args},         {"variables", launch.variables}};
  result["pointers"] = json::array();
  for (const PointerInfo &pointer : launch.pointers)
    result["pointers"].push_back({{"root", pointer.root}, {"offset", pointer.offset}});
  if (!launch.reason.empty())
    result["reason"] = launch.reason;
  addRange(result, "grid_range", launch.gridRange);
  addRange(result, "block_range", launch.blockRange);
  addRange(result, "shared_range", launch.sharedRange);
  return result;
}

json kernelJson(const KernelInfo &kernel) {
  json result = {{"name", kernel.name},           {"file", kernel.file},
                 {"line", kernel.line},           {"unit", kernel.unit},
                 {"annotated", kernel.annotated}, {"compile_flags", kernel.compileFlags},
                 {"directory", kernel.directory}, {"defined", kernel.isDefined}};
  for (const char *list : {"clauses", "specializations", "launches", "constants", "outside"})
    result[list] = json::array();
  for (const ClauseInfo &clause : kernel.clauses)
    result["clauses"].push_back(
        {{"text", clause.text}, {"file", clause.file}, {"line", clause.line}});
  for (const SpecializationInfo &specialization : kernel.specializations)
    result["specializations"].push_back(specializationJson(specialization));
  for (const LaunchInfo &launch : kernel.launches)
    result["launches"].push_back(launchJson(launch));
  for (const ConstantInfo &constant : kernel.constants)
    result["constants"].push_back({{"name", constant.name},
                                   {"kind", constant.kind},
                                   {"value", constant.value},
                                   {"value_range", rangeJson(constant.valueRange)},
                                   {"line", constant.line},
                                   {"used_by_kernel", constant.usedByKernel},
                                   {"used_by_launch", constant.usedByLaunch}});
  for (const OutsideNameInfo &outside : kernel.outside)
    result["outside"].push_back({{"name", outside.name},
                                 {"declared", outside.isDeclared},
                                 {"user", userJson(outside.user)}});
  return result;
}

} // namespace

json toJson(const Extraction &extraction) {
  json document = {{"schema_version", 1},
                   {"tool", "kopt-extract " KOPT_VERSION},
                   {"notes", extraction.notes},
                   {"file_hashes", extraction.fileHashes},
                   {"kernels", json::array()},
                   {"library_kernels", json::array()},
                   {"unresolved_launches", json::array()}};
  for (const KernelInfo &kernel : extraction.kernels)
    document["kernels"].push_back(kernelJson(kernel));
  for (const LibraryKernelInfo &kernel : extraction.libraryKernels)
    document["library_kernels"].push_back({{"symbol", kernel.symbol},
                                           {"name", kernel.name},
                                           {"file", kernel.file},
                                           {"line", kernel.line}});
  for (const UnresolvedLaunch &unresolved : extraction.unresolvedLaunches) {
    json entry = launchJson(unresolved.launch);
    entry["callee"] = unresolved.callee;
    entry["reason"] = unresolved.reason;
    document["unresolved_launches"].push_back(std::move(entry));
  }
  return document;
}

} // namespace kopt::frontend
