#include "hplcast/fit/thresholds.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/json.hpp"

namespace hplcast::fit {

void set_thresholds(std::istream& in, const std::string& name, NetworkFitOptions& options) {
  using Json = nlohmann::ordered_json;
  constexpr std::uint64_t beyond = 2147483647;  // SMPI compares sizes as ints
  try {
    const Json json = Json::parse(core::read_json_text(in, name));
    const Json* chosen = nullptr;
    for (const Json& one : json.at("thresholds"))
      if (chosen == nullptr || one.at("scope") == "remote") chosen = &one;
    if (chosen == nullptr) throw core::ParseError({name, 0, "/thresholds"}, "found an empty list");
    const auto size = [&](const char* field) {
      const Json& value = chosen->at(field);
      return value.is_null() ? beyond : value.get<std::uint64_t>();
    };
    const std::uint64_t unattended = chosen->contains("unattended_bytes") ? size("unattended_bytes") : beyond;
    const std::uint64_t async_small = std::min(size("async_small_bytes"), unattended);
    options.async_small_bytes = async_small;
    options.detached_bytes = std::max(async_small, std::min(size("detached_bytes"), unattended));
    options.late_probes = chosen->value("late_probes", false);
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, error.what(), "expected a file written by hplcast-measure-thresholds");
  }
}

}  // namespace hplcast::fit
