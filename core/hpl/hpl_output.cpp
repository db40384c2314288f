// HPL's output: the header, which says the parameters of all its runs, and a W line for each run.
#include <algorithm>
#include <cstdio>
#include <istream>
#include <regex>
#include <sstream>
#include <utility>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/imported.hpp"

namespace hplcast::core {

namespace {

/// A value as the header says it.
std::optional<long long> header_value(const HplField& field, const std::string& word) {
  if (field.in_output.empty()) return hpl_value(field.name, word);
  const auto found = std::find(field.in_output.begin(), field.in_output.end(), word);
  if (found == field.in_output.end()) return std::nullopt;
  return found - field.in_output.begin();
}

const std::string threshold_text = "- Computational tests pass if scaled residuals are less than";

/// Words behind a value ("form", "(long)") are left out: only lists have several values. Nothing for a text that is no
/// value, such as the explanations that HPL prints first.
void add_values(const std::string& text, const std::string& field, std::vector<long long>& values) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto value = header_value(*find_hpl_field(field), word);
    if (!value) break;
    values.push_back(*value);
  }
}

void check_in_header(const HplField& field, const std::vector<long long>& values, const HplRun& run,
                     const Location& where) {
  const long long value = field.get(run.parameters);
  if (std::find(values.begin(), values.end(), value) != values.end()) return;
  const std::string list = joined(values, " ", [](long long one) { return std::to_string(one); });
  throw ParseError({where.file, where.line, field.name},
                   "this run has " + std::to_string(value) + ", HPL's header above says " + list,
                   "are these parts of two outputs? Keep each run below its own header");
}

/// Sets what only the header says, and checks that it can be the header of this run.
void complete(HplRun& run, HplHeader& header, const Location& where) {
  const std::vector<std::string> untold = std::exchange(run.assumed, {});
  for (const HplField& field : hpl_fields()) {
    const std::vector<long long>& said = header.values[field.name];
    if (std::find(untold.begin(), untold.end(), field.name) == untold.end()) {
      if (!said.empty()) check_in_header(field, said, run, where);
    } else if (said.size() == 1) {
      field.set(run.parameters, said.front());
    } else if (std::string(field.name) != "swap_threshold" || run.parameters.SWAP == 2) {
      run.assumed.push_back(field.name);
    }
  }
}

/// "WR11C2R4": order, DEPTH, BCAST, RFACT, NDIV, PFACT, NBMIN. BCAST is one digit; the others have as many as they
/// need. "WC0" (HPL-NVIDIA from 23 on): the order alone. What a code does not tell becomes `assumed`.
bool decode_variant(const std::string& code, HplRun& run) {
  static const std::regex form("W([RC])(?:[0-9]|([0-9]{1,9})([0-5])([LCR])([0-9]{1,9})([LCR])([0-9]{1,9}))");
  constexpr std::size_t longest = 64;  // more would need a deep stack
  std::smatch parts;
  if (code.size() > longest || !std::regex_match(code, parts, form)) return false;
  const auto factorisation = [&](std::size_t part) {
    return static_cast<int>(std::string("LCR").find(parts.str(part)));
  };
  HplParameters& p = run.parameters;
  p.PMAP = parts.str(1) == "R" ? 0 : 1;
  run.assumed = {"SWAP", "swap_threshold", "L1", "U", "EQUIL", "ALIGN"};
  if (!parts[2].matched) {
    run.assumed.insert(run.assumed.end(), {"PFACT", "NBMIN", "NDIV", "RFACT", "BCAST", "DEPTH"});
    return true;
  }
  p.DEPTH = std::stoi(parts.str(2));
  p.BCAST = std::stoi(parts.str(3));
  p.RFACT = factorisation(4);
  p.NDIV = std::stoi(parts.str(5));
  p.PFACT = factorisation(6);
  p.NBMIN = std::stoi(parts.str(7));
  return true;
}

bool is_result_line(const std::string& line) {
  return line.size() > 8 && line[0] == 'W' && (line[1] == 'R' || line[1] == 'C') && line[2] >= '0' && line[2] <= '9';
}

HplRun parse_result_line(const std::string& line, const Location& where, const HplParameters& defaults) {
  HplRun run;
  HplParameters& p = run.parameters = defaults;
  std::istringstream words(line);
  std::string code;
  words >> code >> p.N >> p.NB >> p.P >> p.Q >> run.time_s >> run.gflops;
  const bool whole = words && (words.eof() || std::isspace(words.peek()) != 0);  // 6,8e+01 is not 6
  if (!whole || !decode_variant(code, run) || std::min({p.NB, p.P, p.Q}) < 1 || !(run.time_s >= 0) ||
      !(run.gflops > 0)) {
    throw ParseError(where, "found \"" + line.substr(0, 80) +
                                "\"; expected a result line such as WR11C2R4  5000  128  1  2  1.23  6.8e+01");
  }
  return run;
}

void read_extra_digits(const std::string& line, HplRun& run) {
  double time_s = 0, gflops = 0, ended_unix_s = 0, kernels_s = 0;
  std::sscanf(line.c_str(), "hplcast: time_s=%lf gflops=%lf ended_unix_s=%lf kernels_s=%lf", &time_s, &gflops,
              &ended_unix_s, &kernels_s);
  if (!(time_s > 0 && gflops > 0)) return;
  run.time_s = time_s;
  run.gflops = gflops;
  if (ended_unix_s > 0) run.ended_unix_s = ended_unix_s;
  if (kernels_s > 0) run.kernels_s = kernels_s;
}

/// "||Ax-b||_oo/(eps*...)=   3.58e-03 ...... PASSED": the word alone does not count, as an edited or damaged line has
/// one beside any number. HPL 1.0 divides otherwise, and has the number in the same place. Without a header the
/// threshold is that of HPL.dat as it comes.
bool passes(const std::string& line, double threshold) {
  if (line.find("PASSED") == std::string::npos) return false;
  const std::size_t equals = line.find('=');
  double residual = 0;
  if (equals == std::string::npos || std::sscanf(line.c_str() + equals + 1, "%lf", &residual) != 1) return true;
  return residual >= 0 && residual < (threshold > 1e300 ? 16 : threshold);  // false for NaN
}

}  // namespace

const char* residual_text(const HplRun& run) {
  return !run.residual_checked ? "unchecked" : run.residual_passed ? "passed" : "failed";
}

bool has_hpl_results(const std::string& text) {
  const std::vector<std::string> lines = split(text, '\n');
  return std::any_of(lines.begin(), lines.end(), is_result_line);
}

void HplHeader::read(const std::string& line) {
  for (const char* begin : {"HPLinpack ", "The following parameter values", "End of Tests"})
    if (line.rfind(begin, 0) == 0) values.clear();
  if (line.rfind(threshold_text, 0) == 0) std::sscanf(line.c_str() + threshold_text.size(), "%lf", &threshold);
  const std::size_t colon = line.find(':');
  const std::string key = colon == std::string::npos ? "" : line.substr(0, line.find_first_of(" :"));
  if (find_hpl_field(key) != nullptr && line.find_first_not_of(' ', key.size()) == colon) {
    last = key;
    values[key].clear();
    add_values(line.substr(colon + 1), key, values[key]);
    if (key == "SWAP") {
      int of_mix = 0;
      const std::size_t begin = line.find("threshold = ");
      values["swap_threshold"].clear();
      if (begin != std::string::npos && std::sscanf(line.c_str() + begin, "threshold = %d", &of_mix) == 1)
        values["swap_threshold"] = {of_mix};
    }
  } else if (!last.empty() && line.rfind("        ", 0) == 0) {  // more than eight values
    add_values(line, last, values[last]);
  } else {
    last.clear();
  }
}

std::vector<HplRun> read_hpl_output(std::istream& in, const std::string& name, const HplParameters& defaults) {
  return read_hpl_output_below({}, in, name, defaults, 1);
}

std::vector<HplRun> read_hpl_output_below(HplHeader header, std::istream& in, const std::string& name,
                                          const HplParameters& defaults, std::size_t first_line) {
  std::vector<HplRun> runs;
  std::string line;
  for (std::size_t number = first_line; read_line(in, line, name); ++number) {
    if (is_result_line(line)) {
      runs.push_back(parse_result_line(line, {name, number, ""}, defaults));
      complete(runs.back(), header, {name, number, ""});
    } else if (!runs.empty() && line.rfind("hplcast: time_s=", 0) == 0) {
      read_extra_digits(line, runs.back());
    } else if (!runs.empty() && line.rfind("||Ax-b||_oo", 0) == 0) {  // HPL 1.0 has three such lines
      HplRun& run = runs.back();
      const bool first = !std::exchange(run.residual_checked, true);
      run.residual_passed = (first || run.residual_passed) && passes(line, header.threshold);
    } else {
      header.read(line);
    }
  }
  return runs;
}

}  // namespace hplcast::core
