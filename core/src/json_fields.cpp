#include "json_fields.hpp"

#include <algorithm>
#include <istream>
#include <iterator>

namespace hplcast::core::detail {

Json parse_json(std::istream& in, const std::string& name) {
  const std::string text(std::istreambuf_iterator<char>(in), {});
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = static_cast<std::size_t>(std::count(text.begin(), end, '\n')) + 1;
    throw ParseError({name, line, ""},
                     text.empty() ? "the file is empty; expected JSON" : std::string("not JSON: ") + error.what());
  } catch (const nlohmann::json::exception& error) {
    throw ParseError({name, 0, ""}, std::string("not JSON: ") + error.what());
  }
}

void check_schema(const Node& root, int oldest, int latest) {
  const int found = root.at("schema_version").integer<int>();
  if (found >= oldest && found <= latest) return;
  const std::string expected = oldest == latest
                                   ? "version " + std::to_string(latest)
                                   : "versions " + std::to_string(oldest) + " to " + std::to_string(latest);
  root.at("schema_version")
      .fail("found version " + std::to_string(found) + "; this hplcast reads " + expected,
            found > latest ? "the file was written by a newer hplcast" : "make the file anew with this hplcast");
}

}  // namespace hplcast::core::detail
