#include "study/activity/rank_activity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/errors.hpp"
#include "tests/study/activity_files.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::study {
namespace {

using testing::activity_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::error_in;

RankActivity read(const std::string& text) {
  std::istringstream in(text);
  return read_rank_activity(in, "run-0.activity");
}

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  return text.replace(text.find(old), old.size(), replacement);
}

TEST(RankActivity, HasWhatTheFileSays) {
  const RankActivity rank = read(activity_of(1));
  EXPECT_EQ(rank.run, "abc");
  EXPECT_EQ(rank.rank, 1);
  EXPECT_EQ(rank.host, "node-1");
  EXPECT_EQ(rank.end_s - rank.begin_s, 10);
  EXPECT_EQ(rank.q, 2);
  const PhaseSums& broadcast = rank.phases[2];
  EXPECT_EQ(broadcast.elapsed_s, 6);
  EXPECT_EQ(broadcast.empty_probes.calls, 8U);
  EXPECT_EQ(rank.phases[4].kernels[0].amount, 4000);
  EXPECT_EQ(rank.core, 1);
  ASSERT_EQ(rank.kernel_calls.size(), 1U);
  EXPECT_EQ(rank.kernel_calls[0].size_class, 5);
  EXPECT_EQ(sum_of(rank.kernel_calls[0], core::Monomial{1, 1, 1}), 2000);
  ASSERT_EQ(rank.kernel_samples.size(), 1U);
  EXPECT_EQ(rank.kernel_samples[0].shape.n, 20);
  ASSERT_EQ(rank.events.size(), 1U);
  EXPECT_EQ(rank.events[0].tag, 7);
  EXPECT_FALSE(rank.events[0].sends);
  EXPECT_EQ(read(activity_of(0)).clocks.size(), 2U);
}

TEST(RankActivity, RefusesAFileThatIsCutOffAtAnyLine) {
  const std::string whole = activity_of(0);
  for (std::size_t end = whole.find('\n'); end + 1 < whole.size(); end = whole.find('\n', end + 1)) {
    EXPECT_THAT(error_in([&] { read(whole.substr(0, end + 1)); }), HasSubstr("ends early")) << end;
  }
  EXPECT_THROW(read(""), core::ParseError);
  EXPECT_THROW(read(whole.substr(0, whole.size() / 2)), core::ParseError);
}

TEST(RankActivity, SaysWhichLineIsWrong) {
  const std::string good = activity_of(0);
  EXPECT_THAT(error_in([&] { read("kernel,m,n\n"); }),
              AllOf(HasSubstr("run-0.activity:1"), HasSubstr("expected `hplcast-activity,2`")));
  EXPECT_THAT(error_in([&] { read(with(good, "rank,0", "rank,x")); }), HasSubstr("run-0.activity:3"));
  EXPECT_THAT(error_in([&] { read(with(good, "dgemm", "gemm")); }), HasSubstr("expected the name of a kernel"));
  EXPECT_THAT(error_in([&] { read(with(good, "phase,solve", "phase,solved")); }), HasSubstr("a phase"));
  EXPECT_THAT(error_in([&] { read(with(good, "overhead,0.05", "overhead")); }), HasSubstr("a field is missing"));
  EXPECT_THAT(error_in([&] { read(with(good, "overhead,0.05", "overhead,1,2")); }), HasSubstr("more fields"));
  EXPECT_THAT(error_in([&] { read(with(good, "overhead,0.05", "overhead,nan")); }), HasSubstr("expected a number"));
  EXPECT_THAT(error_in([&] { read(with(good, "overhead", "undertow")); }), HasSubstr("kind of line"));
  EXPECT_THAT(error_in([&] { read(with(good, "M,3,3.5", "M,3,2.5")); }), HasSubstr("ends before it begins"));
  EXPECT_THAT(error_in([&] { read(with(good, "calls,dgemm,5", "calls,dgemm,32")); }), HasSubstr("expected 0 to 31"));
  EXPECT_THAT(error_in([&] { read(with(good, ",2000,400", ",2000")); }), HasSubstr("a field is missing"));
  EXPECT_THAT(error_in([&] { read(good + "end\n"); }), HasSubstr("after `end`"));
}

}  // namespace
}  // namespace hplcast::study
