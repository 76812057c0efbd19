// SPDX-License-Identifier: Apache-2.0
// extract/Model.h and diagnostics for ByteWriter and ByteReader. Each structured binding names
// every member, so that a new one does not compile until it is kept as well. Entries of other
// builds of the tool are never read, so the layout may change freely.
#pragma once

#include "clang_plugin/output/Model.h"
#include "clang_plugin/parse/ParseCuda.h"

namespace kopt::frontend {

template <class Archive> void fields(Archive &archive, Range &value) {
  auto &[file, begin, end] = value;
  archive(file, begin, end);
}

template <class Archive> void fields(Archive &archive, ParamInfo &value) {
  auto &[name, type, kind, size, align, scalar, components, pointeeSize, pointeeConst, restricted,
         comparedWith] = value;
  archive(name, type, kind, size, align, scalar, components, pointeeSize, pointeeConst, restricted,
          comparedWith);
}

template <class Archive> void fields(Archive &archive, TemplateArgInfo &value) {
  auto &[name, text, integral, range] = value;
  archive(name, text, integral, range);
}

template <class Archive> void fields(Archive &archive, UserInfo &value) {
  auto &[name, file, line, onHostAlone] = value;
  archive(name, file, line, onHostAlone);
}

template <class Archive> void fields(Archive &archive, ChunkInfo &value) {
  auto &[source, sliceBegin, sliceEnd, role, name, editable, users] = value;
  archive(source, sliceBegin, sliceEnd, role, name, editable, users);
}

template <class Archive> void fields(Archive &archive, OutsideNameInfo &value) {
  auto &[name, isDeclared, user] = value;
  archive(name, isDeclared, user);
}

template <class Archive> void fields(Archive &archive, LaunchNeedInfo &value) {
  auto &[kind, name, file, line] = value;
  archive(kind, name, file, line);
}

template <class Archive> void fields(Archive &archive, ConstantVariableInfo &value) {
  auto &[name, symbol, bytes, type, scalar] = value;
  archive(name, symbol, bytes, type, scalar);
}

template <class Archive> void fields(Archive &archive, SpecializationInfo &value) {
  auto &[symbol, expression, fileLocal, instantiation, templateArgs, params, needs,
         constantVariables, route, slicePath, reason, proven, sliceText, chunks, kernelChunk] =
      value;
  archive(symbol, expression, fileLocal, instantiation, templateArgs, params, needs,
          constantVariables, route, slicePath, reason, proven, sliceText, chunks, kernelChunk);
}

template <class Archive> void fields(Archive &archive, PointerInfo &value) {
  auto &[root, offset] = value;
  archive(root, offset);
}

template <class Archive> void fields(Archive &archive, LaunchInfo &value) {
  auto &[file, line, column, symbol, geometry, grid, block, sharedBytes, args, gridRange,
         blockRange, sharedRange, variables, reason, pointers] = value;
  archive(file, line, column, symbol, geometry, grid, block, sharedBytes, args, gridRange,
          blockRange, sharedRange, variables, reason, pointers);
}

template <class Archive> void fields(Archive &archive, UnresolvedLaunch &value) {
  auto &[launch, callee, reason] = value;
  archive(launch, callee, reason);
}

template <class Archive> void fields(Archive &archive, ConstantInfo &value) {
  auto &[name, kind, number, valueRange, line, usedByKernel, usedByLaunch] = value;
  archive(name, kind, number, valueRange, line, usedByKernel, usedByLaunch);
}

template <class Archive> void fields(Archive &archive, ClauseInfo &value) {
  auto &[text, file, line] = value;
  archive(text, file, line);
}

template <class Archive> void fields(Archive &archive, KernelInfo &value) {
  auto &[name, file, unit, line, annotated, isDefined, clauses, specializations, launches,
         constants, outside, compileFlags, directory] = value;
  archive(name, file, unit, line, annotated, isDefined, clauses, specializations, launches,
          constants, outside, compileFlags, directory);
}

template <class Archive> void fields(Archive &archive, LibraryKernelInfo &value) {
  auto &[symbol, name, file, line] = value;
  archive(symbol, name, file, line);
}

template <class Archive> void fields(Archive &archive, Extraction &value) {
  auto &[kernels, libraryKernels, unresolvedLaunches, fileHashes, notes] = value;
  archive(kernels, libraryKernels, unresolvedLaunches, fileHashes, notes);
}

template <class Archive> void fields(Archive &archive, Diagnostic &value) {
  auto &[severity, file, message, line, column] = value;
  archive(severity, file, message, line, column);
}

} // namespace kopt::frontend
