// Memory of the fits: bounded by the distinct shapes and sizes, whatever the number of rows (HPLCAST_ROWS).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "hplcast/core/files.hpp"
#include "tests/support/asked.hpp"

namespace {

using hplcast::core::TemporaryFolder;

/// Peak memory in bytes of the built hplcast run with these arguments; -1 if it failed.
long peak_bytes(std::vector<std::string> arguments) {
  const pid_t child = fork();
  if (child == 0) {
    arguments.insert(arguments.begin(), HPLCAST_BINARY_DIR "/bin/hplcast");
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    execv(words.front(), words.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || status != 0) return -1;
  return usage.ru_maxrss * 1024;
}

/// A few percent of scatter that hardly ever repeats a value.
double scatter(long row) {
  return 1 + 0.05 * static_cast<double>((row * 7919) % 1000003) / 1000003;
}

/// 36 shapes, in turn.
void write_kernel_rows(const std::string& path, long rows) {
  std::ofstream out(path);
  out << "kernel,m,n,k,duration_s\n";
  for (long i = 0; i < rows; ++i) {
    const long m = 64L << i % 4, n = 100 * (1 + i / 4 % 3), k = 32 * (1 + i / 12 % 3);
    out << "dgemm," << m << ',' << n << ',' << k << ',' << (1e-6 + 7e-11 * static_cast<double>(m * n * k)) * scatter(i)
        << '\n';
  }
}

/// All operations at 21 sizes, in turn.
void write_mpi_rows(const std::string& path, long rows) {
  const std::vector<std::string> operations = {"send",   "isend", "recv",  "pingpong",
                                               "iprobe", "test",  "wtime", "send_unmatched"};
  std::ofstream out(path);
  out << "operation,scope,size_bytes,duration_s\n";
  for (long i = 0; i < rows; ++i) {
    const std::string& operation = operations[static_cast<std::size_t>(i) % operations.size()];
    const long size = 1L << i / static_cast<long>(operations.size()) % 21;
    double duration = (operation == "pingpong" ? 6e-6 : 5e-7) + 2e-10 * static_cast<double>(size);
    if (operation == "send_unmatched") duration = size < 65536 ? 1e-6 : 0.02;
    out << operation << ",remote," << size << ',' << duration * scatter(i) << '\n';
  }
}

/// Fits of `many` rows must not need more memory than those of `few`, in which all samples of bounded size are full.
void expect_bounded(long few, long many) {
  // Fragments of the heap and the pages of the readers; a row kept as two doubles takes 16 MB a million.
  constexpr long slack = 4 << 20;
  const TemporaryFolder folder("hplcast-large-input");
  const std::string file = (folder.path() / "rows.csv").string(), result = (folder.path() / "fit.json").string();
  const std::vector<std::vector<std::string>> kernel_fits = {
      {"fit", "kernel", file, "--quiet", "-o", result},
      {"fit", "kernel", file, "--quiet", "--level", "M'", "--noise", "mixture", "-o", result}};
  const std::vector<std::vector<std::string>> mpi_fits = {
      {"fit", "network", file, "--noise", "mixture", "-o", result},
      {"fit", "segmented", file, "--by", "operation", "--noise", "mixture", "-o", result}};
  for (const auto& [write, fits] : {std::pair(write_kernel_rows, kernel_fits), std::pair(write_mpi_rows, mpi_fits)}) {
    std::vector<long> usual;
    write(file, few);
    for (const auto& fit : fits) usual.push_back(peak_bytes(fit));
    write(file, many);
    for (std::size_t i = 0; i < fits.size(); ++i) {
      ASSERT_GT(usual[i], 0);
      const long peak = peak_bytes(fits[i]);
      ASSERT_GT(peak, 0);
      std::printf("%s %s: %ld rows %ld kB, %ld rows %ld kB\n", fits[i][1].c_str(), fits[i][4].c_str(), few,
                  usual[i] / 1024, many, peak / 1024);
      EXPECT_LT(peak, usual[i] + slack) << fits[i][1];
    }
  }
}

TEST(LargeInput, MemoryDoesNotGrowWithTheRows) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "skipped: the address sanitizer keeps freed memory";
#endif
  expect_bounded(100000, hplcast::test::asked("HPLCAST_ROWS", 1000000));
}

}  // namespace
