#include "hplcast/core/activity_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hplcast/core/files.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A link was replaced by a file, with whatever stands behind it left as it was.
TEST(TraceFile, IsWhereALinkPoints) {
  const TemporaryFolder folder("hplcast-trace");
  const fs::path link = folder.path() / "link.json", real = folder.path() / "real.json";
  write_file(real, [](std::ostream& out) { out << "old\n"; });
  fs::create_symlink("real.json", link);
  TraceFile trace(link.string());
  trace.name_rank(0, 0, "node-1");
  trace.phase(0, "update", {1, 2});
  trace.close();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(read_text(real), HasSubstr("\"ts\":1000000.000,\"dur\":1000000.000"));
  EXPECT_FALSE(fs::exists(real.string() + ".part"));
}

}  // namespace
}  // namespace hplcast::core
