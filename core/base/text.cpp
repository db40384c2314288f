#include "hplcast/core/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <sstream>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string printed(const char* format, ...) {
  std::array<char, 256> text{};
  std::va_list values;
  va_start(values, format);
  (void)std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return text.data();
}

namespace {

/// Number of letters to insert, leave out, replace or swap with the next one, to get from `a` to `b`.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = steps[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

}  // namespace

std::size_t index_of(const std::string& name, const EnumNames& names) {
  std::string expected;
  for (std::size_t i = 0; i < names.names.size() && names.names[i] != nullptr; ++i) {
    if (name == names.names[i]) return i;
    const bool is_last = i + 1 == names.names.size() || names.names[i + 1] == nullptr;
    expected += (i == 0 ? "" : is_last ? " or " : ", ") + std::string(names.names[i]);
  }
  throw DomainError(names.what, name, expected);
}

std::string folded(std::string_view name) {
  const char* const blanks = " \t\r\n";
  const std::size_t begin = name.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  std::string text(name.substr(begin, name.find_last_not_of(blanks) - begin + 1));
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 64;  // no name of ours is longer, and the time goes with the square
  const std::string wanted = folded(name);
  if (wanted.empty() || wanted.size() > longest) return "";
  std::string nearest;
  std::size_t least = wanted.size() / 3 + 1;
  for (const std::string& candidate : names) {
    const std::size_t steps = distance(wanted, folded(candidate));
    if (steps >= least) continue;
    least = steps;
    nearest = candidate;
  }
  return nearest;
}

std::string name_hint(std::string_view name, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(name, names);
  return nearest.empty() ? "expected one of " + comma_separated(names) : "did you mean `" + nearest + "`?";
}

std::string xml_escaped(const std::string& text) {
  static const std::map<char, const char*> entities = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
  std::string result;
  for (const char c : text) {
    const auto entity = entities.find(c);
    result += entity == entities.end() ? std::string(1, c) : entity->second;
  }
  return result;
}

}  // namespace hplcast::core
