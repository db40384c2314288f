#include "cli/measure/core_list.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {

namespace {

using calibration::CorePlace;

[[noreturn]] void refuse(const std::string& text) {
  throw core::UsageError("--cores is `" + text + "`; expected numbers of cores such as 0-3,8, or all");
}

/// "7": digits only, at most six.
long number_of(const std::string& digits, const std::string& text) {
  const bool fine = !digits.empty() && digits.size() <= 6 &&
                    std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!fine) refuse(text);
  return std::stol(digits);
}

const CorePlace& find_core(long number, const std::vector<CorePlace>& cores) {
  const auto place = std::find_if(cores.begin(), cores.end(), [&](const CorePlace& c) { return c.core == number; });
  if (place == cores.end())
    throw core::Error(core::ExitCode::bad_input, "core " + std::to_string(number) +
                                                     " is none that this process may be pinned to; there are " +
                                                     std::to_string(cores.size()) + ", from 0\n  hint: --cores all");
  return *place;
}

}  // namespace

std::vector<CorePlace> parse_cores(const std::string& text, const std::vector<CorePlace>& cores) {
  if (cores.empty())
    throw core::Error(core::ExitCode::bad_input, "there is no core that this process may be pinned to");
  if (text == "all") return cores;
  std::vector<CorePlace> chosen;
  std::set<long> seen;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const long first = number_of(part.substr(0, dash), text);
    const long last = dash == std::string::npos ? first : number_of(part.substr(dash + 1), text);
    if (last < first) refuse(text);
    for (long number = first; number <= last; ++number) {
      chosen.push_back(find_core(number, cores));
      if (!seen.insert(number).second)
        throw core::UsageError("--cores is `" + text + "`; core " + std::to_string(number) + " is there twice");
    }
  }
  if (chosen.empty() || text.back() == ',') refuse(text);
  return chosen;
}

}  // namespace hplcast::cli
