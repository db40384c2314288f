// HPL.dat as HPL itself reads it: HPL_pdinfo.c of the HPL that is built here, on generated files, against ours.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "tests/hpl-patches/common/pdinfo_reference.h"

namespace hplcast {
namespace {

using Lines = std::vector<std::string>;
using core::HplParameters;

/// Generates HPL.dat files: right ones, odd ones and broken ones. The same numbers on every machine.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string file() {
    Lines lines = right();
    const int damages = below(4);  // none in a quarter of the files
    for (int i = 0; i < damages; ++i) damage(lines);
    std::string text;
    const char* end = below(12) == 0 ? "\r\n" : "\n";
    for (const std::string& line : lines) text += line + end;
    if (below(15) == 0 && !text.empty()) text.resize(static_cast<std::size_t>(below(static_cast<int>(text.size()))));
    return text;
  }

 private:
  /// std::uniform_int_distribution differs between standard libraries.
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int>(list.size()))];
  }

  std::string list(int count, int least, int choices) {
    std::string text;
    for (int i = 0; i < count; ++i) text += std::to_string(least + below(choices)) + " ";
    return text;
  }

  void add_list(Lines& lines, int least, int choices) {
    const int count = below(3) == 0 ? 1 + below(4) : 1;
    lines.push_back(std::to_string(count) + one_of({" # of values", "", "   "}));
    lines.push_back(list(count, least, choices) + one_of({"values", "", " ..."}));
  }

  Lines right() {
    Lines lines = {"HPLinpack benchmark input file", "a comment", "HPL.out output file name", "6 device out"};
    add_list(lines, 0, 20000);
    add_list(lines, 1, 300);
    lines.push_back(std::to_string(below(2)) + " PMAP");
    const int grids = 1 + below(3);
    lines.push_back(std::to_string(grids) + " # of process grids (P x Q)");
    lines.push_back(list(grids, 1, 8) + "Ps");
    lines.push_back(list(grids, 1, 8) + "Qs");
    lines.push_back(one_of({"16.0 threshold", "-1.0", "1e1 threshold"}));
    add_list(lines, 0, 3);
    add_list(lines, 1, 16);
    add_list(lines, 2, 4);
    add_list(lines, 0, 3);
    add_list(lines, 0, 6);
    add_list(lines, 0, 13);
    lines.push_back(std::to_string(below(3)) + " SWAP");
    lines.push_back(std::to_string(below(200)) + " swapping threshold");
    for (const char* what : {" L1", " U", " Equilibration"}) lines.push_back(std::to_string(below(2)) + what);
    lines.push_back(std::to_string(1 + below(16)) + " memory alignment");
    return lines;
  }

  std::string odd_word() {
    return one_of<const char*>({"1e5",   "1.5", "-1",         "-7",         "0",          "20",
                                "21",    "7",   "abc",        "",           "+3",         "007",
                                "0x10",  "2,3", "2147483647", "2147483648", "4294967297", "99999999999999999999",
                                "\"4\"", "#",   "4;"});
  }

  void damage(Lines& lines) {
    if (lines.empty()) return;
    const auto at = static_cast<std::size_t>(below(static_cast<int>(lines.size())));
    std::string& line = lines[at];
    const std::size_t blank = std::min(line.find(' '), line.size());
    switch (below(14)) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), one_of({"", "# a comment", "5 6 7", "   "}));
        break;
      case 2:
        lines.resize(at);  // the lines behind it are missing
        break;
      case 3:
        line.insert(0, one_of({" ", "  ", "\t", "     "}));
        break;
      case 4:
        line.replace(0, blank, odd_word());
        break;
      case 5:
        line.insert(blank, one_of({" ", "  ", "\t", "\t\t"}));
        break;
      case 6:
        line = line.substr(0, blank);  // no text behind the value
        break;
      case 7:
        line += std::string(static_cast<std::size_t>(200 + below(400)), one_of({'x', ' ', '7'}));
        break;
      case 8:
        line = "";
        break;
      case 9:
        line.insert(0, odd_word() + " ");
        break;
      case 10:
        std::swap(line, lines[static_cast<std::size_t>(below(static_cast<int>(lines.size())))]);
        break;
      case 11:
        line = std::to_string(below(25)) + line.substr(blank);  // another count, or another value
        break;
      case 12:
        line += std::string(1, '\0') + "5";
        break;
      default:
        line = one_of({"\t", "5\v6", "\f3 4", "3\r4", "\xc3\xa4", "2 2 2 2 2 2 2 2"});
    }
  }

  std::mt19937 random_;
};

/// The runs of HPL_pddriver's loops.
std::vector<HplParameters> expanded(const pdinfo_result& r) {
  std::vector<HplParameters> all;
  const auto each = [&](int list, const auto& then) {
    for (int i = 0; i < r.counts[list]; ++i) then(r.values[list][i]);
  };
  HplParameters p;
  p.PMAP = r.pmap, p.SWAP = r.swap, p.swap_threshold = r.swap_threshold;
  p.L1 = r.l1, p.U = r.u, p.EQUIL = r.equil, p.ALIGN = r.align;
  for (int grid = 0; grid < r.counts[2]; ++grid) {
    p.P = r.values[2][grid], p.Q = r.q[grid];
    each(0, [&](int N) {
      each(1, [&](int NB) {
        each(8, [&](int DEPTH) {
          each(7, [&](int BCAST) {
            each(6, [&](int RFACT) {
              each(3, [&](int PFACT) {
                each(4, [&](int NBMIN) {
                  each(5, [&](int NDIV) {
                    p.N = N, p.NB = NB, p.DEPTH = DEPTH, p.BCAST = BCAST;
                    p.RFACT = RFACT, p.PFACT = PFACT, p.NBMIN = NBMIN, p.NDIV = NDIV;
                    all.push_back(p);
                  });
                });
              });
            });
          });
        });
      });
    });
  }
  return all;
}

/// What the simulated HPL cannot be asked for although HPL reads it: grids that overflow, and lists without end.
bool beyond_hplcast(const pdinfo_result& r) {
  double runs = 1;
  for (const int count : r.counts) runs *= count;
  if (runs > static_cast<double>(core::hpl_dat_most_configurations)) return true;
  for (int i = 0; i < r.counts[0]; ++i)
    if (r.values[0][i] == 0) return true;  // HPL does nothing with an N of 0
  for (int i = 0; i < r.counts[2]; ++i)
    if (static_cast<long long>(r.values[2][i]) * r.q[i] > 2147483647) return true;
  return false;
}

struct Ours {
  std::vector<HplParameters> configurations;
  std::vector<std::string> warnings;
  std::string refusal;
};

Ours read_ours(const std::string& text) {
  Ours ours;
  std::istringstream in(text);
  try {
    ours.configurations = core::read_hpl_dat(in, "HPL.dat", &ours.warnings);
  } catch (const core::Error& error) {
    ours.refusal = error.what();
  }
  return ours;
}

/// Empty if both read the same.
std::string difference(const pdinfo_result& hpl, const Ours& ours) {
  if (hpl.status == PDINFO_CRASHED) return "HPL_pdinfo crashed";
  if (hpl.status == PDINFO_UNDEFINED) return ours.refusal.empty() ? "HPL reads undefined memory, we accept" : "";
  if (hpl.status == PDINFO_REFUSED) return ours.refusal.empty() ? "HPL refuses, we accept" : "";
  if (beyond_hplcast(hpl)) return ours.refusal.empty() ? "we accept what we cannot run" : "";
  if (!ours.refusal.empty()) return "HPL accepts, we refuse: " + ours.refusal;
  const auto theirs = expanded(hpl);
  if (theirs.size() != ours.configurations.size()) {
    return std::to_string(theirs.size()) + " configurations of HPL, " + std::to_string(ours.configurations.size()) +
           " of ours";
  }
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    if (theirs[i] == ours.configurations[i]) continue;
    return "configuration " + std::to_string(i) + "\n  HPL:  " + core::to_string(theirs[i]) +
           "\n  ours: " + core::to_string(ours.configurations[i]);
  }
  return "";
}

class HplDatReference : public ::testing::Test {
 protected:
  pdinfo_result by_hpl(const std::string& text) {
    const auto path = folder_.path() / "HPL.dat";
    std::ofstream(path, std::ios::binary) << text;
    return pdinfo_read(path.c_str());
  }

 private:
  core::TemporaryFolder folder_{"hplcast-pdinfo"};
};

TEST_F(HplDatReference, GeneratedFilesAreReadAsHplReadsThem) {
  Generator generator(19);
  std::map<pdinfo_status, int> outcomes;
  int warned = 0;
  constexpr int files = 1000;
  for (int i = 0; i < files; ++i) {
    const std::string text = generator.file();
    const pdinfo_result hpl = by_hpl(text);
    const Ours ours = read_ours(text);
    ++outcomes[hpl.status];
    if (!ours.warnings.empty()) ++warned;
    EXPECT_EQ(difference(hpl, ours), "") << "file " << i << ":\n" << text;
    if (HasFailure() && i > 20) break;
  }
  // The files must be of all kinds: else the comparison would say little.
  EXPECT_GT(outcomes[PDINFO_READ], files / 4);
  EXPECT_GT(outcomes[PDINFO_REFUSED], files / 10);
  EXPECT_GT(outcomes[PDINFO_UNDEFINED], files / 100);
  EXPECT_GT(warned, files / 10);
  std::cout << files << " files: read " << outcomes[PDINFO_READ] << ", refused " << outcomes[PDINFO_REFUSED]
            << ", undefined " << outcomes[PDINFO_UNDEFINED] << "; with warnings " << warned << '\n';
}

TEST_F(HplDatReference, OurOwnFilesAreReadAsTheyWereMeant) {
  HplParameters p;
  p.N = 12345, p.DEPTH = 12, p.SWAP = 2, p.swap_threshold = 17, p.PMAP = 1, p.L1 = 1;
  std::ostringstream text;
  core::write_hpl_dat(text, p, true);
  const pdinfo_result hpl = by_hpl(text.str());
  ASSERT_EQ(hpl.status, PDINFO_READ);
  const auto all = expanded(hpl);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0], p) << core::to_string(all[0]);
  EXPECT_TRUE(read_ours(text.str()).warnings.empty());
}

}  // namespace
}  // namespace hplcast
