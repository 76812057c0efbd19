// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/DeclaredNames.h"
#include "driver/model/TuneSubject.h"
#include "driver/workload/observed/SubjectWorkload.h"
#include "fakes/ScaleKernel.h"

#include <gmock/gmock.h>

using namespace kopt;
using namespace kopt::fakes;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class DeclaredNamesTest : public ScaleKernel {
protected:
  Error errorOf(const std::vector<std::string> &clauses) {
    const auto built =
        buildWorkload(kernel_, specialization_, declaration(clauses), DeviceKind::Emulated);
    return built ? Error{} : built.error();
  }
};

TEST_F(DeclaredNamesTest, EveryMissingClauseIsNamedAtOnce) {
  specialization_.params.push_back(
      {"y", "float *", ParamKind::Pointer, 8, 8, "f32", 1, 4, false, false});
  specialization_.params.push_back(
      {"factor", "float", ParamKind::Scalar, 4, 4, "f32", 1, 0, false, false});
  kernel_.launches.front().block = {"threads", "1", "1"};
  const Error error = errorOf({"extent y = rows * 2"});
  EXPECT_EQ(error.code, ErrorCode::Usage);
  EXPECT_EQ(error.what, "kernel 'scale' has no extent for 'x' and no values for 'n', 'rows', "
                        "'factor', 'threads'");
  EXPECT_THAT(error.hint, HasSubstr("\"arg n = 1024\", \"arg rows = 1024\", \"arg factor = 1.0\", "
                                    "\"arg threads = 1024\", \"extent x = n\""));
  EXPECT_EQ(error.where, path_ + ":2");
  // The clauses it shows are all that is needed.
  EXPECT_EQ(errorOf({"extent y = rows * 2", "arg n = 1024", "arg rows = 1024", "arg factor = 1.0",
                     "arg threads = 1024", "extent x = n + 32"})
                .what,
            "");
}

TEST_F(DeclaredNamesTest, AConstantThatALaunchGivesAnotherValueIsNoted) {
  const auto notes = [&](const std::vector<std::string> &clauses) {
    return shadowedConstants(kernel_, specialization_, declaration(clauses));
  };
  EXPECT_THAT(notes({"launch big: n=100, TILE=64"}),
              ElementsAre("note: launch big gives TILE = 64, in place of the program's constant "
                          "TILE = 32 (" +
                          path_ + ":1)"));
  EXPECT_THAT(notes({"launch big: n=100, TILE=32", "arg n = 3"}), ElementsAre());
  kernel_.launches.front().variables = {"TILE"}; // a variable of the host program
  EXPECT_THAT(notes({"launch big: n=100, TILE=64"}), ElementsAre());
  kernel_.launches.front().variables.clear();
  const TuneSubject subject{{kernel_, specialization_, slice_},
                            declaration({"arg n = 64", "arg TILE = 8", "extent x = 128"}),
                            "scale"};
  const auto made = workloadOf(subject, std::nullopt, DeviceKind::Emulated);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_THAT(made->notes, ElementsAre(HasSubstr("arg TILE gives TILE = 8")));
}

} // namespace
