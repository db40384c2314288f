#include "hplcast/core/cluster_model.hpp"

#include <algorithm>
#include <cctype>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

namespace {

constexpr std::size_t max_hosts = 1'000'000;

DomainError bad_radical(const std::string& radical, const std::string& why) {
  return DomainError("host names", "\"" + radical + "\" (" + why + ")", "names such as node-[1-32,40].site or a,b,c");
}

/// Splits at commas that are not inside brackets.
std::vector<std::string> split_outside_brackets(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth < 0 || depth > 1) throw bad_radical(text, "unbalanced brackets");
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) throw bad_radical(text, "unbalanced brackets");
  return parts;
}

bool all_digits(const std::string& text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "3" or "01-16" to the numbers as text, padded like the first.
std::vector<std::string> expand_range(const std::string& radical, const std::string& range) {
  const std::size_t dash = range.find('-');
  const std::string first = range.substr(0, dash);
  const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
  if (!all_digits(first) || !all_digits(last)) throw bad_radical(radical, "`" + range + "` is not a range");
  const long from = std::stol(first);
  const long to = std::stol(last);
  if (to < from) throw bad_radical(radical, "`" + range + "` goes down");
  if (static_cast<std::size_t>(to - from) >= max_hosts) throw bad_radical(radical, "more than 1 million hosts");
  std::vector<std::string> numbers;
  for (long i = from; i <= to; ++i) {
    std::string number = std::to_string(i);
    if (number.size() < first.size()) number.insert(0, first.size() - number.size(), '0');
    numbers.push_back(number);
  }
  return numbers;
}

void expand_part(const std::string& radical, const std::string& part, std::vector<std::string>& names) {
  const std::size_t open = part.find('[');
  if (open == std::string::npos) {
    if (part.empty()) throw bad_radical(radical, "an empty name");
    names.push_back(part);
    return;
  }
  const std::size_t close = part.find(']', open);
  std::vector<std::string> tails;
  const std::string rest = part.substr(close + 1);
  if (rest.empty())
    tails.emplace_back();
  else
    expand_part(radical, rest, tails);
  std::size_t begin = open + 1;
  while (begin <= close) {
    const std::size_t end = std::min(part.find(',', begin), close);
    for (const std::string& number : expand_range(radical, part.substr(begin, end - begin))) {
      if (names.size() + tails.size() > max_hosts) throw bad_radical(radical, "more than 1 million hosts");
      for (const std::string& tail : tails) names.push_back(part.substr(0, open) + number + tail);
    }
    begin = end + 1;
  }
}

}  // namespace

std::vector<std::string> expand_hosts(const std::string& radical) {
  std::vector<std::string> names;
  for (const std::string& part : split_outside_brackets(radical)) expand_part(radical, part, names);
  return names;
}

Hosts Hosts::make(Values values) {
  if (values.cores < 1) throw DomainError("cores", values.cores, "at least 1 per host");
  constexpr int most_cores = 1000000;  // as hosts: code goes through all of them
  if (values.cores > most_cores) throw DomainError("cores", values.cores, "at most 1000000 per host");
  if (values.cpus < 1) throw DomainError("cpus", values.cpus, "at least 1 per host");
  if (values.cpus > values.cores)
    throw DomainError("cpus", values.cpus, "at most the " + std::to_string(values.cores) + " cores");
  if (!(values.memory_bytes >= 0))
    throw DomainError("memory_bytes", values.memory_bytes, "a number >= 0 (0: not known)");
  if (values.threads_per_rank < 1) throw DomainError("threads_per_rank", values.threads_per_rank, "at least 1");
  RankToCpu& map = values.rank_to_cpu;
  if (map.kind == RankToCpu::Kind::block && values.cores % values.cpus != 0) {
    throw DomainError("cores", values.cores,
                      "a multiple of cpus (" + std::to_string(values.cpus) + ") for rank_to_cpu `block`");
  }
  if (map.kind == RankToCpu::Kind::list) {
    if (static_cast<int>(map.list.size()) != values.cores) {
      throw DomainError("rank_to_cpu", std::to_string(map.list.size()) + " entries",
                        "one for each of the " + std::to_string(values.cores) + " cores");
    }
    for (const int cpu : map.list) {
      if (cpu < 0 || cpu >= values.cpus)
        throw DomainError("rank_to_cpu", cpu, "CPUs from 0 to " + std::to_string(values.cpus - 1));
    }
  }
  Hosts hosts;
  hosts.names_ = expand_hosts(values.names);
  std::vector<std::string> sorted = hosts.names_;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw DomainError("host names", *twice + " twice", "each host once");
  hosts.values_ = std::move(values);
  return hosts;
}

int Hosts::cpu_of(int local_rank) const noexcept {
  const int core = local_rank % values_.cores;
  switch (values_.rank_to_cpu.kind) {
    case RankToCpu::Kind::cyclic:
      return core % values_.cpus;
    case RankToCpu::Kind::list:
      return values_.rank_to_cpu.list[static_cast<std::size_t>(core)];
    case RankToCpu::Kind::block:
      break;
  }
  return core / (values_.cores / values_.cpus);
}

bool is_strided(std::string_view routine) noexcept {
  return ends_with(routine, "/strided") || ends_with(routine, "/half-aliased") || ends_with(routine, "/aliased");
}

bool is_mpi_function(std::string_view routine) noexcept {
  return routine.substr(0, 4) == "MPI_";
}

std::string stretch_name(const std::string& before, const std::string& after, StretchLevel level) {
  const auto function_of = [](const std::string& call) { return call.substr(0, call.find('+')); };
  switch (level) {
    case StretchLevel::site:
      return before + " > " + after;
    case StretchLevel::function:
      return function_of(before) + " > " + function_of(after);
    case StretchLevel::any:
      break;
  }
  return "any > any";
}

bool is_stretch(std::string_view region) noexcept {
  return region.find(" > ") != std::string_view::npos;
}

std::string call_site_name(const std::string& function, const std::string& site) {
  return function + (site.empty() ? "" : " in " + site);
}

double largest_face(const KernelShape& shape) noexcept {
  return std::max({shape.m * shape.n, shape.m * shape.k, shape.n * shape.k});
}

}  // namespace hplcast::core
