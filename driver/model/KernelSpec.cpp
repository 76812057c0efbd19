// SPDX-License-Identifier: Apache-2.0
// Reads the front end's JSON. Every failure names the JSON pointer, so that a mismatch between the
// two sides is found at once.
#include "driver/model/KernelSpec.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace kopt {
namespace {

using Json = nlohmann::json;

constexpr int kSchemaVersion = 1;

/// A value together with its path. The first problem is kept; after it every read gives a default,
/// and the whole is refused at the end. That keeps the reading functions below plain lists of
/// members.
class Reader {
public:
  Reader(const Json &value, std::string path, std::string &problem)
      : value_(&value), path_(std::move(path)), problem_(&problem) {}

  void fail(const std::string &what) const {
    if (problem_->empty())
      *problem_ = what + " at " + (path_.empty() ? "/" : path_);
  }

  bool has(const char *key) const {
    return value_->is_object() && value_->contains(key) && !(*value_)[key].is_null();
  }
  Reader member(const char *key) const {
    static const Json kNull;
    Reader result(has(key) ? (*value_)[key] : kNull, path_ + "/" + key, *problem_);
    if (!value_->is_object())
      fail("expected an object");
    else if (!has(key))
      result.fail("missing value");
    return result;
  }

  void read(std::string &out) const {
    if (value_->is_string())
      out = value_->get<std::string>();
    else
      fail("expected a string");
  }
  void read(bool &out) const {
    if (value_->is_boolean())
      out = value_->get<bool>();
    else
      fail("expected true or false");
  }
  template <class Integer>
    requires std::is_integral_v<Integer>
  void read(Integer &out) const {
    if (!value_->is_number_integer())
      return fail("expected an integer");
    // Not through a comparison of Json: that takes large unsigned numbers for negative ones.
    const bool fits = value_->is_number_unsigned()
                          ? std::in_range<Integer>(value_->get<std::uint64_t>())
                          : std::in_range<Integer>(value_->get<std::int64_t>());
    if (!fits)
      return fail(std::is_unsigned_v<Integer> && !value_->is_number_unsigned()
                      ? "expected an integer from 0"
                      : "integer out of range");
    out = value_->get<Integer>();
  }
  void read(SourceRange &out) const {
    member("file").read(out.file);
    member("begin").read(out.begin);
    member("end").read(out.end);
    if (out.end < out.begin)
      fail("a range that ends before it begins");
  }
  template <class T> void read(std::optional<T> &out) const {
    T value{};
    read(value);
    out = std::move(value);
  }
  template <class T> void read(std::vector<T> &out) const {
    each([&](const Reader &item, std::size_t) { item.read(out.emplace_back()); });
  }
  void read(std::array<std::string, 3> &out) const {
    if (!value_->is_array() || value_->size() != 3)
      return fail("expected three expressions");
    each([&](const Reader &item, std::size_t i) { item.read(out[i]); });
  }
  void read(std::map<std::string, std::string> &out) const {
    if (!value_->is_object())
      return fail("expected an object");
    for (auto it = value_->begin(); it != value_->end(); ++it)
      Reader(it.value(), path_ + "/" + it.key(), *problem_).read(out[it.key()]);
  }
  void read(KernelParam &out) const;
  void read(TemplateArg &out) const;
  void read(LaunchNeed &out) const;
  void read(ConstantVariable &out) const;
  void read(OutsideUser &out) const;
  void read(OutsideNamed &out) const;
  void read(SliceChunk &out) const;
  void read(Specialization &out) const;
  void read(PointerOrigin &out) const;
  void read(LaunchSite &out) const;
  void read(NamedConstant &out) const;
  void read(TuneClause &out) const;
  void read(KernelSpec &out) const;

  /// Reads a member that must be there.
  template <class T> void need(const char *key, T &out) const { member(key).read(out); }
  /// Reads a member that may be absent or null.
  template <class T> void may(const char *key, T &out) const {
    if (has(key))
      member(key).read(out);
  }

private:
  template <class Function> void each(Function function) const {
    if (!value_->is_array())
      return fail("expected an array");
    for (std::size_t i = 0; i < value_->size(); ++i)
      function(Reader((*value_)[i], path_ + "/" + std::to_string(i), *problem_), i);
  }

  const Json *value_;
  std::string path_;
  std::string *problem_;
};

void Reader::read(KernelParam &out) const {
  std::string kind;
  need("name", out.name);
  need("type", out.type);
  need("kind", kind);
  if (kind == "pointer")
    out.kind = ParamKind::Pointer;
  else if (kind == "scalar")
    out.kind = ParamKind::Scalar;
  else if (kind == "struct")
    out.kind = ParamKind::Struct;
  else
    member("kind").fail("unknown parameter kind '" + kind + "'");
  need("size", out.size);
  need("align", out.align);
  may("scalar", out.scalar);
  may("components", out.components);
  may("pointee_size", out.pointeeSize);
  may("pointee_const", out.pointeeConst);
  may("restrict", out.restrictQualified);
  may("compared_with", out.comparedWith);
}

void Reader::read(TemplateArg &out) const {
  need("name", out.name);
  need("value", out.value);
  may("integral", out.integral);
  may("range", out.range);
}

void Reader::read(LaunchNeed &out) const {
  need("kind", out.kind);
  if (out.kind != "texture" && out.kind != "surface" && !out.isCooperative())
    member("kind").fail("unknown need '" + out.kind + "'");
  need("name", out.name);
  need("file", out.file);
  need("line", out.line);
}

void Reader::read(ConstantVariable &out) const {
  need("name", out.name);
  need("symbol", out.symbol);
  need("bytes", out.bytes);
  need("type", out.type);
  need("scalar", out.scalar);
}

void Reader::read(OutsideUser &out) const {
  need("name", out.name);
  need("file", out.file);
  need("line", out.line);
  need("host", out.onHostAlone);
}

void Reader::read(OutsideNamed &out) const {
  need("name", out.name);
  need("declared", out.isDeclared);
  need("user", out.user);
}

void Reader::read(SliceChunk &out) const {
  need("source", out.source);
  need("slice_begin", out.sliceBegin);
  need("slice_end", out.sliceEnd);
  need("role", out.role);
  need("name", out.name);
  need("editable", out.editable);
  may("users", out.users);
  if (out.sliceEnd < out.sliceBegin)
    fail("a chunk that ends before it begins");
}

void Reader::read(Specialization &out) const {
  need("symbol", out.symbol);
  may("file_local", out.fileLocal);
  need("expression", out.expression);
  may("template_args", out.templateArgs);
  need("params", out.params);
  may("needs", out.needs);
  may("constant_variables", out.constantVariables);
  need("route", out.route);
  if (out.route != "slice" && out.route != "in-place" && out.route != "refused")
    member("route").fail("unknown route '" + out.route + "'");
  may("slice", out.slice);
  may("reason", out.reason);
  may("proven", out.proven);
  may("chunks", out.chunks);
  may("kernel_chunk", out.kernelChunk);
  if (out.route != "slice")
    return;
  if (out.slice.empty())
    member("slice").fail("a slice without a file");
  if (out.kernelChunk >= out.chunks.size())
    member("kernel_chunk").fail("no chunk with that number");
  for (std::size_t i = 0; i + 1 < out.chunks.size(); ++i)
    if (out.chunks[i].sliceEnd > out.chunks[i + 1].sliceBegin)
      member("chunks").fail("chunks that overlap or are out of order");
}

void Reader::read(PointerOrigin &out) const {
  need("root", out.root);
  need("offset", out.offset);
}

void Reader::read(LaunchSite &out) const {
  need("file", out.file);
  need("line", out.line);
  may("column", out.column);
  need("symbol", out.symbol);
  need("geometry", out.geometry);
  if (out.geometry != "exact" && out.geometry != "symbolic" && out.geometry != "unresolved")
    member("geometry").fail("unknown geometry '" + out.geometry + "'");
  need("grid", out.grid);
  need("block", out.block);
  may("shared_bytes", out.sharedBytes);
  may("variables", out.variables);
  may("reason", out.reason);
  may("args", out.args);
  may("pointers", out.pointers);
  may("grid_range", out.gridRange);
  may("block_range", out.blockRange);
  may("shared_range", out.sharedRange);
}

void Reader::read(NamedConstant &out) const {
  need("name", out.name);
  need("kind", out.kind);
  need("value", out.value);
  need("value_range", out.valueRange);
  may("line", out.line);
  may("used_by_kernel", out.usedByKernel);
  may("used_by_launch", out.usedByLaunch);
}

void Reader::read(TuneClause &out) const {
  need("text", out.text);
  need("file", out.file);
  need("line", out.line);
}

void Reader::read(KernelSpec &out) const {
  need("name", out.name);
  need("file", out.file);
  need("line", out.line);
  need("unit", out.unit);
  need("annotated", out.annotated);
  may("clauses", out.clauses);
  need("specializations", out.specializations);
  need("launches", out.launches);
  need("constants", out.constants);
  may("outside", out.outside);
  may("compile_flags", out.compileFlags);
  may("directory", out.directory);
}

} // namespace

bool contains(const SourceRange &outer, const SourceRange &inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end &&
         outer.end > outer.begin;
}

Result<ExtractionResult> parseExtraction(const nlohmann::json &document) {
  std::string problem;
  Reader root(document, "", problem);
  ExtractionResult result;
  int version = 0;
  root.need("schema_version", version);
  if (problem.empty() && version != kSchemaVersion)
    root.member("schema_version")
        .fail("schema version " + std::to_string(version) + " instead of " +
              std::to_string(kSchemaVersion));
  root.need("kernels", result.kernels);
  root.need("file_hashes", result.fileHashes);
  root.may("notes", result.notes);
  if (!problem.empty())
    return makeError(ErrorCode::Internal, "the front end's answer breaks its schema: " + problem,
                     "kopt and kopt-frontend must come from the same build");
  return result;
}

} // namespace kopt
