// hpl-patches/replaced_functions.txt against the programs that were linked by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "hplcast/core/process.hpp"
#include "tests/hpl-patches/runs.hpp"

namespace hplcast::hpl_patches {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Names = std::set<std::string>;

const fs::path patches = HPLCAST_SOURCE_DIR "/hpl-patches";
const std::string library = HPLCAST_BINARY_DIR "/lib/";
const std::string hpl_archive = library + "libhplcast-hpl.a";
const std::vector<std::string> checked_programs = {"xhpl-smpi", "xhpl-smpi-real"};

struct Row {
  Names functions, programs, versions;
  std::string technique, file;
};

Names words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// The lines of Markdown tables between the line `after` (or the beginning) and the next heading.
std::vector<std::string> table_lines(const fs::path& path, const std::string& after = {}) {
  std::vector<std::string> result;
  std::istringstream in(read_text(path));
  bool inside = after.empty();
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("## ", 0) == 0) inside = line == after;
    if (inside && line.rfind('|', 0) == 0) result.push_back(line);
  }
  return result;
}

std::vector<Row> all_rows() {
  const std::regex columns(R"(\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|)");
  std::vector<Row> result;
  std::vector<std::string> lines = table_lines(patches / "replaced_functions.txt");
  for (auto line = lines.begin() + 2; line < lines.end(); ++line) {
    std::smatch found;
    if (!std::regex_match(*line, found, columns)) throw std::runtime_error("expected six columns: " + *line);
    result.push_back({words(found[1]), words(found[3]), words(found[5]), found[2], found[4]});
  }
  return result;
}

/// As the table names it: 2.3 for hpl-2.3, hpcc for hpcc-hpl-2.0.
std::string version() {
  const std::string source = read_text(HPLCAST_BINARY_DIR "/hpl-source/HPLCAST_SOURCE");
  const std::string variant = source.substr(0, source.find('\n'));
  return std::regex_replace(variant, std::regex("variant=(hpl-)?|-hpl-.*"), "");
}

std::vector<Row> rows_of_this_hpl() {
  std::vector<Row> result = all_rows();
  const auto of_another = [](const Row& row) { return row.versions.count("all") + row.versions.count(version()) == 0; };
  result.erase(std::remove_if(result.begin(), result.end(), of_another), result.end());
  return result;
}

/// Functions that the table gives `technique` to in `program`.
Names functions_of(const std::string& program, const std::string& technique) {
  Names result;
  for (const Row& row : rows_of_this_hpl()) {
    if (row.technique == technique && row.programs.count("all") + row.programs.count(program) > 0) {
      result.insert(row.functions.begin(), row.functions.end());
    }
  }
  return result;
}

std::string output_of(const std::string& program, const std::vector<std::string>& arguments) {
  return core::run_checked({program, arguments, {}, {}, {}, 60, {}}).output;
}

/// Names in the last column of nm that match `wanted`, without versions of libraries.
Names symbols(const std::string& file, std::vector<std::string> options, const std::string& wanted = "[^\\s@]+") {
  options.push_back(file);
  const std::string output = output_of("nm", options);
  const std::regex name(" [A-Za-z] (" + wanted + ")(@\\S+)?\n");
  Names result;
  for (std::sregex_iterator found(output.begin(), output.end(), name), end; found != end; ++found) {
    result.insert((*found)[1]);
  }
  return result;
}

Names difference(const Names& of, const Names& without) {
  Names result;
  std::set_difference(of.begin(), of.end(), without.begin(), without.end(), std::inserter(result, result.end()));
  return result;
}

TEST(ReplacedFunctions, AreInTheFilesThatTheTableNames) {
  for (const Row& row : all_rows()) {
    if (row.technique == "SMPI" || row.functions.count("kernels") > 0) continue;
    const std::string text = read_text(patches / row.file);
    const auto kind = row.technique.find(" memory");
    if (kind != std::string::npos) {
      EXPECT_THAT(text, HasSubstr("hplcast_" + row.technique.substr(0, kind) + "_malloc(size_t")) << row.file;
    } else {
      for (const std::string& function : row.functions) EXPECT_THAT(text, HasSubstr(function)) << row.file;
    }
  }
}

TEST(ReplacedFunctions, AreFunctionsOfThisHplOrCalledByIt) {
  Names known = {"kernels", "hplcast_kernel_call"};
  known.merge(symbols(hpl_archive, {}));
  known.merge(symbols(library + "libhplcast-xhpl-smpi.a", {"--undefined-only"}));  // the main program for HPC Challenge
  for (const Row& row : rows_of_this_hpl()) {
    if (row.technique == "names" || row.technique == "added") continue;
    EXPECT_THAT(difference(row.functions, known), IsEmpty()) << row.file;
  }
}

/// A function that is wrapped by no row would never be called.
TEST(ReplacedFunctions, AreAllInTheTable) {
  const std::string wrapped = "__wrap_\\w+";
  Names kernels;
  for (const std::string& name : symbols(program_path("xhpl-instrumented"), {}, wrapped))
    kernels.insert(name.substr(7));
  kernels = difference(kernels, functions_of("xhpl-instrumented", "wrap"));
  EXPECT_THAT(kernels, Contains("cblas_dgemm"));
  for (const std::string& program : checked_programs) {
    Names rows = functions_of(program, "wrap");
    if (rows.count("kernels") > 0) rows.insert(kernels.begin(), kernels.end());
    Names ours;
    for (const std::string& name : symbols(library + "libhplcast-" + program + ".a", {"--defined-only"}, wrapped)) {
      ours.insert(name.substr(7));
    }
    EXPECT_THAT(difference(ours, rows), IsEmpty()) << program;
  }
}

/// SMPI would read or write memory that has no content, or take a request or a type of ours for one of its own. A call
/// that is new in another version of HPL needs a row: "wrap" with a function of ours, or "SMPI" with the reason.
TEST(ReplacedFunctions, LeaveNoMpiFunctionToSmpiButThoseInTheTable) {
  for (const std::string& program : checked_programs) {
    // Those with capitals only are constants.
    const Names to_smpi = symbols(program_path(program), {"-D", "--undefined-only"}, "MPI_\\w*[a-z]\\w*");
    EXPECT_THAT(difference(to_smpi, functions_of(program, "SMPI")), IsEmpty()) << program;
    EXPECT_THAT(difference(functions_of(program, "SMPI"), to_smpi), IsEmpty()) << "no longer called by " << program;
  }
}

TEST(ReplacedFunctions, LeaveNothingUndefined) {
  const std::regex path("(/\\S+) \\(0x");
  for (const std::string& program : checked_programs) {
    const std::string libraries = output_of("ldd", {program_path(program)});
    Names defined = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"};  // the compiler's
    for (std::sregex_iterator found(libraries.begin(), libraries.end(), path), end; found != end; ++found) {
      defined.merge(symbols((*found)[1], {"-D", "--defined-only"}));
    }
    EXPECT_THAT(difference(symbols(program_path(program), {"-D", "--undefined-only"}), defined), IsEmpty()) << program;
  }
}

TEST(ReplacedFunctions, AreNotLinkedWithoutNeed) {
  const Names defined = symbols(program_path("xhpl-smpi"), {"--defined-only"});
  EXPECT_THAT(defined, Contains("HPL_pdgesv0"));
  for (const char* replaced :
       {"HPL_dlacpy", "HPL_dlaswp01T", "HPL_dlocmax", "HPL_packL", "HPL_pdmatgen", "HPL_ptimer"}) {
    EXPECT_THAT(defined, Not(Contains(replaced)));
  }
}

}  // namespace
}  // namespace hplcast::hpl_patches
