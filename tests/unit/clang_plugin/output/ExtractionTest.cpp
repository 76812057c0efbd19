// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Extraction.h"

#include "clang_plugin/output/RecordJson.h"
#include "clang_plugin/output/Variants.h"
#include "clang_plugin/tool/Tools.h"
#include "unit/model/ExtractionSample.h"

#include <fstream>
#include <gmock/gmock.h>
#include <set>

namespace kopt {
namespace {

using nlohmann::json;
using Names = std::set<std::string>;

/// The JSON names of a record's members, and the spellings of those that are enums.
struct Listing {
  Names all, required;
  std::map<std::string, Names> enums;

  template <class Member> void add(const std::string &name, const Member &) {
    EXPECT_TRUE(all.insert(name).second) << name;
    if constexpr (!detail::kIsA<std::optional, Member>)
      required.insert(name);
    if constexpr (SpelledEnum<Member>)
      for (std::string_view spelling : spellings(Member{}))
        enums[name].insert(std::string(spelling));
  }
};

class SchemaTest : public testing::Test {
protected:
  template <class Record> void expectDescribed(const std::string &pointer) {
    const json &schema = schema_.at(json::json_pointer(pointer));
    Record record;
    Listing listing;
    std::apply(
        [&](const auto &...field) { (listing.add(detail::jsonKey(field.name), field.value), ...); },
        fieldsOf(record));
    listing.all.erase("lifted"); // is not printed
    Names described;
    for (const auto &[name, type] : schema.at("properties").items())
      described.insert(name);
    EXPECT_EQ(described, listing.all) << pointer;
    EXPECT_EQ(schema.at("required").get<Names>(), listing.required) << pointer;
    EXPECT_EQ(schema.at("additionalProperties"), false) << pointer;
    for (const auto &[name, spellings] : listing.enums)
      EXPECT_EQ(schema.at("properties").at(name).at("enum").get<Names>(), spellings) << pointer;
  }

  const json schema_ =
      json::parse(std::ifstream(KOPT_SOURCE_DIR "/clang_plugin/output/kernels.schema.json"));
};

TEST_F(SchemaTest, DescribesEveryMember) {
  const std::string kernel = "/$defs/kernel/properties",
                    specialization = "/$defs/specialization/properties";
  expectDescribed<ExtractionResult>("");
  expectDescribed<ExtractionNote>("/properties/notes/items");
  expectDescribed<LibraryKernel>("/properties/library_kernels/items");
  expectDescribed<SourceRange>("/$defs/range");
  expectDescribed<KernelSpec>("/$defs/kernel");
  expectDescribed<TuneClause>(kernel + "/clauses/items");
  expectDescribed<OutsideNamed>(kernel + "/outside/items");
  expectDescribed<OutsideUser>("/$defs/user");
  expectDescribed<Specialization>("/$defs/specialization");
  expectDescribed<TemplateArg>(specialization + "/template_args/items");
  expectDescribed<KernelParam>(specialization + "/params/items");
  expectDescribed<LaunchNeed>(specialization + "/needs/items");
  expectDescribed<ConstantVariable>(specialization + "/constant_variables/items");
  expectDescribed<SliceChunk>("/$defs/chunk");
  expectDescribed<LaunchSite>("/$defs/launch");
  expectDescribed<LaunchVariable>("/$defs/launch_variable");
  expectDescribed<PointerOrigin>("/$defs/launch/properties/pointers/items");
  expectDescribed<NamedConstant>("/$defs/constant");
}

TEST(Records, AreTheSameAfterJsonAndInTheCache) {
  json sample = extractionSample();
  sample["kernels"][0]["launches"][0].erase("block_range"); // null is read as absent
  ExtractionResult read;
  EXPECT_EQ(readDocument(sample, read), "");
  EXPECT_EQ(json::parse(frontend::printed(toJson(read))), sample);

  read.kernels.at(0).specializations.at(0).lifted = {"text", "k<1>"};
  ExtractionResult kept;
  EXPECT_EQ(readDocument(json::from_cbor(json::to_cbor(toJson(read))), kept), "");
  EXPECT_EQ(toJson(kept), toJson(read));
  EXPECT_EQ(kept.kernels.at(0).specializations.at(0).lifted->instantiation, "k<1>");
}

TEST(Records, ARequestThatLacksAMemberIsRefused) {
  json request = toJson(MutateRequest{{"text", "k<1>", "k", {"-O3"}, "/src", "sm_90"}, {}, ""});
  MutateRequest read;
  EXPECT_EQ(readDocument(request, read), "");
  EXPECT_EQ(toJson(read), request);
  request["wanted"].erase("seed");
  EXPECT_EQ(readDocument(request, read), "missing 'seed' at /wanted");
}

} // namespace
} // namespace kopt
