// SPDX-License-Identifier: Apache-2.0
// What extraction finds, as plain data; output/Json.cpp writes it as kernels.schema.json describes.
// Byte ranges are half open and count from the start of the file.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt::frontend {

struct Range {
  std::string file;
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Range &) const = default;
};

struct ParamInfo {
  std::string name, type;
  std::string kind = "scalar";       ///< pointer, scalar, struct
  std::uint32_t size = 0, align = 0; ///< bytes, device ABI
  /// f32, u8, ...: of the scalar or vector type, or of all that an element holds that a pointer
  /// points to; of several kinds, or with gaps, "struct 16 f32 0 i32 4 ...": its bytes, and each
  /// scalar with its offset. Empty where an element holds anything else, such as a pointer.
  std::string scalar;
  std::uint32_t components = 1, pointeeSize = 0;
  bool pointeeConst = false, restrictQualified = false;
  std::vector<std::int64_t> comparedWith{}; ///< integers: by ==, != or as cases of a switch; beside
                                            ///< those it is said to be less or more than
};

struct TemplateArgInfo {
  std::string name, value;
  bool integral = false;
  std::optional<Range> range; ///< what to edit so that the launch uses another value
};

/// Code of the unit that is no part of a slice and uses what is one.
struct UserInfo {
  std::string name, file;
  unsigned line = 0;
  bool onHostAlone = false;
};

struct ChunkInfo {
  Range source;
  std::uint64_t sliceBegin = 0, sliceEnd = 0;
  std::string role, name;
  bool editable = false;
  std::vector<UserInfo>
      users; ///< outside of the slice, at most a few; those that run on the device first
};

/// A name in code outside of a kernel's slices: what else is called so there would be meant
/// instead.
struct OutsideNameInfo {
  std::string name;
  bool isDeclared = false; ///< that of a function or type, called or declared there; else any word,
                           ///< which a macro would replace
  UserInfo user;           ///< the first that has it
};

/// What the kernel needs of a launch beside geometry, arguments and memory.
struct LaunchNeedInfo {
  std::string kind; ///< texture, surface, cooperative
  std::string name; ///< of the object, or the barrier, as the user spells it
  std::string file; ///< where it is taken or used
  unsigned line = 0;
};

/// A __constant__ variable that the kernel reads and that the file gives no value: host code sets
/// it before the launch.
struct ConstantVariableInfo {
  std::string name; ///< without its namespaces
  std::string
      symbol; ///< nvcc's; within a namespace without what nvcc puts before what only one file sees
  std::uint64_t bytes = 0;
  std::string type, scalar; ///< of its elements: as ParamInfo has them of what a pointer points to
};

struct SpecializationInfo {
  std::string symbol, expression; ///< the symbol as in the original's PTX
  bool fileLocal = false; ///< the symbol depends on the file: another file has it differently
  std::string
      instantiation; ///< what the slice names so that it is emitted; empty for a plain kernel
  std::vector<TemplateArgInfo> templateArgs;
  std::vector<ParamInfo> params;
  std::vector<LaunchNeedInfo> needs;
  std::vector<ConstantVariableInfo> constantVariables;
  std::string route = "slice", slicePath, reason;
  bool proven = false;
  std::string sliceText;
  std::vector<ChunkInfo> chunks;
  std::size_t kernelChunk = 0;
};

/// What a pointer argument points into: a variable, a member or what an accessor gives, as it is at
/// the launch, and how many bytes further. Two arguments of a launch with the same root and offset
/// are the same pointer.
struct PointerInfo {
  std::string root; ///< empty: no pointer, or from what cannot be named
  std::string
      offset; ///< over numbers and variables of the host program; empty where it cannot be told
};

struct LaunchInfo {
  std::string file;
  unsigned line = 0, column = 0;
  std::string symbol;
  std::string geometry = "unresolved"; ///< exact, symbolic, unresolved
  std::array<std::string, 3> grid, block;
  std::string sharedBytes = "0";
  std::vector<std::string> args;
  std::optional<Range> gridRange, blockRange, sharedRange;
  std::vector<std::string> variables; ///< of the host program, in the expressions
  std::string reason;                 ///< why the geometry is unresolved
  std::vector<PointerInfo> pointers;  ///< of each argument
};

/// A launch that belongs to no kernel of the unit; what is known of it is filled in.
struct UnresolvedLaunch {
  LaunchInfo launch;
  std::string callee, reason; ///< as spelled; why it belongs to no kernel
};

struct ConstantInfo {
  std::string name, kind; ///< macro, constexpr, enum, const
  std::int64_t value = 0;
  Range valueRange;
  unsigned line = 0;
  bool usedByKernel = false, usedByLaunch = false;
};

struct ClauseInfo {
  std::string text, file;
  unsigned line = 0;
};

struct KernelInfo {
  std::string name, file, unit; ///< qualified; where it is defined; the file that was compiled
  unsigned line = 0;
  bool annotated = false;
  bool isDefined = true; ///< false: another file defines it, this one only launches it
  std::vector<ClauseInfo> clauses;
  std::vector<SpecializationInfo> specializations;
  std::vector<LaunchInfo> launches;
  std::vector<ConstantInfo> constants;
  std::vector<OutsideNameInfo> outside; ///< by name
  std::vector<std::string> compileFlags;
  std::string directory;
};

/// A kernel of the toolkit or of another system header that the user's code instantiates.
struct LibraryKernelInfo {
  std::string symbol, name, file;
  unsigned line = 0;
};

struct Extraction {
  std::vector<KernelInfo> kernels;
  std::vector<LibraryKernelInfo> libraryKernels;
  std::vector<UnresolvedLaunch> unresolvedLaunches;
  std::map<std::string, std::string> fileHashes;
  std::vector<std::string> notes;
};

} // namespace kopt::frontend
