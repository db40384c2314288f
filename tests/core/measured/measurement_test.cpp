#include "hplcast/core/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;

std::vector<KernelMeasurement> kernels(const std::string& text) {
  std::istringstream in(text);
  std::vector<KernelMeasurement> rows;
  read_kernel_csv(in, "k.csv", "dgemm", [&](const KernelMeasurement& row) { rows.push_back(row); });
  return rows;
}

std::vector<MpiMeasurement> messages(const std::string& text) {
  std::istringstream in(text);
  std::vector<MpiMeasurement> rows;
  read_mpi_csv(in, "m.csv", "recv", [&](const MpiMeasurement& row) { rows.push_back(row); });
  return rows;
}

TEST(KernelCsv, RoundTrips) {
  std::ostringstream out;
  out << kernel_csv_header << '\n';
  write_row(out, KernelMeasurement{"dtrsm", {128, 77, 128}, 1.25e-5, 3.5, "n,1", 1, 9, "random", ""});
  write_row(out, KernelMeasurement{"dgemm", {1e9, 1e9, 1e9}, 0, 4, "n", 0, 0, "random", "no memory"});
  const auto rows = kernels(out.str());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kernel, "dtrsm");
  EXPECT_EQ(rows[0].shape.n, 77);
  EXPECT_EQ(rows[0].duration_s, 1.25e-5);
  EXPECT_EQ(rows[0].host, "n,1");
  EXPECT_EQ(rows[0].cpu, 1);
  EXPECT_EQ(rows[1].error, "no memory");
}

TEST(KernelCsv, ReadsPublishedFiles) {
  const auto rows = kernels("experiment,m,n,k,node,cpu,duration_s\nx,2,3,4,5,1,0.5\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kernel, "dgemm");
  EXPECT_EQ(rows[0].host, "5");
  EXPECT_EQ(rows[0].shape.k, 4);
}

TEST(KernelCsv, RefusesWhatCannotBe) {
  const auto message = [](const std::string& text) { return tests::error_in([&] { kernels(text); }); };
  EXPECT_THAT(message("m,n,k\n1,2,3\n"), HasSubstr("field `duration_s`: no such column"));
  EXPECT_THAT(message("duration_s\n1\n"), HasSubstr("field `m`: no such column"));
  EXPECT_THAT(message("m,duration_s\n0,1\n"), HasSubstr("expected a size of at least 1"));
  EXPECT_THAT(message("m,duration_s\n1,-1\n"), HasSubstr("k.csv:2, field `duration_s`"));
  EXPECT_THAT(message("m,duration_s\n1,nan\n"), HasSubstr("k.csv:2, field `duration_s`"));
}

TEST(MpiCsv, SplitsRoundTripsIntoSendAndPingpong) {
  const auto rows = messages("size_bytes,start_s,send_s,recv_s\n100,0,1,2\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].operation, "send");
  EXPECT_EQ(rows[0].duration_s, 1);
  EXPECT_EQ(rows[1].operation, "pingpong");
  EXPECT_EQ(rows[1].duration_s, 3);
}

TEST(MpiCsv, RoundTrips) {
  std::ostringstream out;
  out << mpi_csv_header << '\n';
  write_row(out, MpiMeasurement{"isend", "local", 4097, 2e-6, 1, "a", "b", "dgemm+iprobe", ""});
  const auto rows = messages(out.str());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].operation, "isend");
  EXPECT_EQ(rows[0].scope, "local");
  EXPECT_EQ(rows[0].background, "dgemm+iprobe");
}

}  // namespace
}  // namespace hplcast::core
