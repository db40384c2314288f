// HPL.dat and the W lines of HPL's output: formats that HPL's testing/ptest reads and writes by position.
#include <algorithm>
#include <cstdio>
#include <istream>
#include <ostream>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::core {

void write_hpl_dat(std::ostream& out, const HplParameters& p, bool check) {
  out << "HPLinpack benchmark input file\n"
      << "written by hplcast\n"
      << "HPL.out output file name (unused)\n"
      << "6 device out (6=stdout,7=stderr,file)\n"
      << "1 # of problem sizes (N)\n"
      << p.N << " Ns\n"
      << "1 # of NBs\n"
      << p.NB << " NBs\n"
      << p.PMAP << " PMAP process mapping (0=Row-,1=Column-major)\n"
      << "1 # of process grids (P x Q)\n"
      << p.P << " Ps\n"
      << p.Q << " Qs\n"
      << (check ? "16.0" : "-1.0") << " threshold\n"
      << "1 # of panel fact\n"
      << p.PFACT << " PFACTs (0=left, 1=Crout, 2=Right)\n"
      << "1 # of recursive stopping criteria\n"
      << p.NBMIN << " NBMINs (>= 1)\n"
      << "1 # of panels in recursion\n"
      << p.NDIV << " NDIVs\n"
      << "1 # of recursive panel facts\n"
      << p.RFACT << " RFACTs (0=left, 1=Crout, 2=Right)\n"
      << "1 # of broadcasts\n"
      << p.BCAST << " BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)\n"
      << "1 # of lookahead depths\n"
      << p.DEPTH << " DEPTHs (>=0)\n"
      << p.SWAP << " SWAP (0=bin-exch,1=long,2=mix)\n"
      << p.swap_threshold << " swapping threshold\n"
      << p.L1 << " L1 in (0=transposed,1=no-transposed) form\n"
      << p.U << " U in (0=transposed,1=no-transposed) form\n"
      << p.EQUIL << " Equilibration (0=no,1=yes)\n"
      << p.ALIGN << " memory alignment in double (> 0)\n";
}

namespace {

constexpr std::size_t max_values = 20;       // HPL_MAX_PARAM
constexpr std::size_t max_line_bytes = 254;  // HPL_LINE_MAX - 2

/// Reads HPL.dat line by line as HPL does: values by position, separated by single spaces.
class DatReader {
 public:
  DatReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  std::string line(const char* field) {
    field_ = field;
    std::string text;
    if (!std::getline(in_, text)) {
      throw ParseError({name_, line_ + 1, field}, "the file ends here; HPL.dat has 31 lines");
    }
    ++line_;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.size() > max_line_bytes)
      fail("a line of " + std::to_string(text.size()) + " characters; HPL reads 254 at most");
    return text;
  }

  std::vector<long long> values(const char* field, std::size_t count) {
    const std::string text = line(field);
    std::vector<long long> result;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
      const std::string token = text.substr(std::min(begin, text.size()), end - std::min(begin, text.size()));
      double value = 0;
      if (!parse_double(token, value) || value != static_cast<double>(static_cast<long long>(value))) {
        fail("value " + std::to_string(i + 1) + " of " + std::to_string(count) + " is \"" + token +
             "\"; expected an integer (values start in the first column and are separated by single spaces)");
      }
      result.push_back(static_cast<long long>(value));
      begin = end + 1;
    }
    return result;
  }

  std::size_t count(const char* field) {
    const long long number = values(field, 1).front();
    if (number < 1 || number > static_cast<long long>(max_values))
      fail("a count of " + std::to_string(number) + "; HPL takes 1 to 20");
    return static_cast<std::size_t>(number);
  }

  [[noreturn]] void fail(const std::string& message) const { throw ParseError({name_, line_, field_}, message); }
  Location here() const { return {name_, line_, field_}; }

 private:
  std::istream& in_;
  std::string name_;
  std::string field_;
  std::size_t line_ = 0;
};

struct DatLists {
  std::vector<long long> N, NB, P, Q, PFACT, NBMIN, NDIV, RFACT, BCAST, DEPTH;
  HplParameters single;
};

void set_checked(const DatReader& dat, HplParameters& parameters, const char* field, long long value) {
  for (const HplField& known : hpl_fields()) {
    if (std::string(known.name) == field) known.set(parameters, value);
  }
  try {
    parameters.validate();
  } catch (const DomainError& error) {
    throw ParseError(dat.here(), error.what());
  }
}

/// A list whose every value must be in HPL's range; checked while the reader still knows the line.
std::vector<long long> checked_list(DatReader& dat, const char* field, std::size_t count) {
  std::vector<long long> values = dat.values(field, count);
  for (const long long value : values) {
    HplParameters probe;
    set_checked(dat, probe, field, value);
  }
  return values;
}

std::vector<long long> checked_list(DatReader& dat, const char* field) {
  const std::size_t count = dat.count(field);
  return checked_list(dat, field, count);
}

DatLists read_lists(DatReader& dat) {
  DatLists lists;
  dat.line("title");
  dat.line("comment");
  dat.line("output file");
  dat.line("device out");
  lists.N = checked_list(dat, "N");
  lists.NB = checked_list(dat, "NB");
  set_checked(dat, lists.single, "PMAP", dat.values("PMAP", 1).front());
  const std::size_t grids = dat.count("P");
  lists.P = checked_list(dat, "P", grids);
  lists.Q = checked_list(dat, "Q", grids);
  dat.line("threshold");
  lists.PFACT = checked_list(dat, "PFACT");
  lists.NBMIN = checked_list(dat, "NBMIN");
  lists.NDIV = checked_list(dat, "NDIV");
  lists.RFACT = checked_list(dat, "RFACT");
  lists.BCAST = checked_list(dat, "BCAST");
  lists.DEPTH = checked_list(dat, "DEPTH");
  for (const char* field : {"SWAP", "swap_threshold", "L1", "U", "EQUIL", "ALIGN"}) {
    set_checked(dat, lists.single, field, dat.values(field, 1).front());
  }
  return lists;
}

/// Replaces every configuration by one for each value, later lists varying faster.
void cross(std::vector<HplParameters>& configurations, const std::vector<long long>& values,
           void (*set)(HplParameters&, long long)) {
  std::vector<HplParameters> crossed;
  for (const HplParameters& configuration : configurations) {
    for (const long long value : values) {
      crossed.push_back(configuration);
      set(crossed.back(), value);
    }
  }
  configurations = std::move(crossed);
}

}  // namespace

std::vector<HplParameters> read_hpl_dat(std::istream& in, const std::string& name) {
  DatReader dat(in, name);
  const DatLists lists = read_lists(dat);
  std::vector<HplParameters> all;
  for (std::size_t grid = 0; grid < lists.P.size(); ++grid) {
    HplParameters base = lists.single;
    base.P = static_cast<int>(lists.P[grid]);
    base.Q = static_cast<int>(lists.Q[grid]);
    std::vector<HplParameters> of_grid = {base};
    // The order of the loops in HPL_pddriver.
    cross(of_grid, lists.N, [](HplParameters& p, long long v) { p.N = v; });
    cross(of_grid, lists.NB, [](HplParameters& p, long long v) { p.NB = static_cast<int>(v); });
    cross(of_grid, lists.DEPTH, [](HplParameters& p, long long v) { p.DEPTH = static_cast<int>(v); });
    cross(of_grid, lists.BCAST, [](HplParameters& p, long long v) { p.BCAST = static_cast<int>(v); });
    cross(of_grid, lists.RFACT, [](HplParameters& p, long long v) { p.RFACT = static_cast<int>(v); });
    cross(of_grid, lists.PFACT, [](HplParameters& p, long long v) { p.PFACT = static_cast<int>(v); });
    cross(of_grid, lists.NBMIN, [](HplParameters& p, long long v) { p.NBMIN = static_cast<int>(v); });
    cross(of_grid, lists.NDIV, [](HplParameters& p, long long v) { p.NDIV = static_cast<int>(v); });
    all.insert(all.end(), of_grid.begin(), of_grid.end());
  }
  return all;
}

namespace {

int factorisation_from_letter(char letter) {
  switch (letter) {
    case 'L':
      return 0;
    case 'C':
      return 1;
    case 'R':
      return 2;
    default:
      return -1;
  }
}

/// "WR11C2R4": order, DEPTH, BCAST, RFACT, NDIV, PFACT, NBMIN. DEPTH and BCAST are one digit each; NDIV is printed with
/// one digit in practice, NBMIN with as many as it has.
bool decode_variant(const std::string& code, HplParameters& p) {
  if (code.size() < 8 || code[0] != 'W' || (code[1] != 'R' && code[1] != 'C')) return false;
  p.PMAP = code[1] == 'R' ? 0 : 1;
  p.DEPTH = code[2] - '0';
  p.BCAST = code[3] - '0';
  p.RFACT = factorisation_from_letter(code[4]);
  const std::size_t pfact = code.find_first_not_of("0123456789", 5);
  if (pfact == std::string::npos || pfact == 5 || pfact + 1 >= code.size()) return false;
  if (code.find_first_not_of("0123456789", pfact + 1) != std::string::npos) return false;
  p.NDIV = std::stoi(code.substr(5, std::min<std::size_t>(pfact - 5, 9)));
  p.PFACT = factorisation_from_letter(code[pfact]);
  p.NBMIN = std::stoi(code.substr(pfact + 1, 9));
  return p.DEPTH >= 0 && p.DEPTH <= 9 && p.BCAST >= 0 && p.BCAST <= 5 && p.RFACT >= 0 && p.PFACT >= 0;
}

bool is_result_line(const std::string& line) {
  return line.size() > 8 && line[0] == 'W' && (line[1] == 'R' || line[1] == 'C') && line[2] >= '0' && line[2] <= '9';
}

HplRun parse_result_line(const std::string& line, const Location& where, const HplParameters& defaults) {
  HplRun run;
  run.parameters = defaults;
  std::istringstream words(line);
  std::string code;
  words >> code >> run.parameters.N >> run.parameters.NB >> run.parameters.P >> run.parameters.Q >> run.time_s >>
      run.gflops;
  if (!words || !decode_variant(code, run.parameters) || !(run.time_s >= 0) || !(run.gflops > 0)) {
    throw ParseError(where, "found \"" + line.substr(0, 80) +
                                "\"; expected a result line such as WR11C2R4  5000  128  1  2  1.23  6.8e+01");
  }
  return run;
}

bool read_extra_digits(const std::string& line, HplRun& run) {
  double time_s = 0;
  double gflops = 0;
  if (std::sscanf(line.c_str(), "hplcast: time_s=%lf gflops=%lf", &time_s, &gflops) != 2 || !(time_s > 0) ||
      !(gflops > 0))
    return false;
  run.time_s = time_s;
  run.gflops = gflops;
  return true;
}

}  // namespace

std::vector<HplRun> read_hpl_output(std::istream& in, const std::string& name, const HplParameters& defaults) {
  std::vector<HplRun> runs;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (is_result_line(line)) {
      runs.push_back(parse_result_line(line, {name, number, ""}, defaults));
    } else if (!runs.empty() && line.rfind("hplcast: time_s=", 0) == 0) {
      read_extra_digits(line, runs.back());
    } else if (!runs.empty() && line.rfind("||Ax-b||_oo/(eps", 0) == 0) {
      runs.back().residual_checked = true;
      runs.back().residual_passed = line.find("PASSED") != std::string::npos;
    }
  }
  return runs;
}

}  // namespace hplcast::core
