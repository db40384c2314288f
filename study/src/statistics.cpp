#include "statistics.hpp"

#include <istream>
#include <nlohmann/json.hpp>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {

Statistics read_statistics(std::istream& in, const std::string& name) {
  Statistics statistics;
  try {
    const auto json = nlohmann::json::parse(in);
    statistics.simulator = json.at("simulator").get<std::string>();
    statistics.model_sha256 = json.at("model_sha256").get<std::string>();
    statistics.deadlock = json.at("deadlock").get<bool>();
    statistics.times_s = json.at("times_s").get<std::vector<double>>();
    for (const auto& [kernel, count] : json.at("kernels").items()) {
      statistics.kernels[kernel] = {count.at("calls").get<std::uint64_t>(),
                                    count.at("outside_range").get<std::uint64_t>(), count.at("time_s").get<double>(),
                                    count.at("flop").get<double>()};
    }
    for (const auto& [operation, count] : json.at("messages").items()) {
      statistics.messages[operation] = {count.at("calls").get<std::uint64_t>(),
                                        count.at("outside_range").get<std::uint64_t>(),
                                        count.at("bytes").get<double>()};
    }
  } catch (const nlohmann::json::exception& error) {
    throw core::ParseError({name, 0, ""}, std::string("not the statistics of a simulated HPL: ") + error.what());
  }
  return statistics;
}

}  // namespace hplcast::study
