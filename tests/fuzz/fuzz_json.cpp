// Every reader of JSON on arbitrary bytes. What was read is written and read again: a round trip changes nothing.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/campaign.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/prediction.hpp"
#include "hplcast/fit/network_fit.hpp"

namespace {

using namespace hplcast;

/// Reads; if that is possible, writes, reads and writes again.
template <typename Read, typename Write>
void round_trip(const std::string& text, Read read, Write write) {
  try {
    std::istringstream in(text);
    std::ostringstream first, second;
    write(first, read(in, "fuzz"));
    std::istringstream again(first.str());
    write(second, read(again, "fuzz"));
    if (first.str() != second.str()) std::abort();
  } catch (const core::Error&) {  // what bad input is meant to end with
  }
}

/// Reads a form that is not written; what it gives must be fit to be written.
template <typename Read, typename Write>
void read_only(const std::string& text, Read read, Write write) {
  try {
    std::istringstream in(text);
    std::ostringstream out;
    write(out, read(in));
  } catch (const core::Error&) {  // what bad input is meant to end with
  }
}

/// As `fit kernel` does.
void write_kernel_models(std::ostream& out, const std::map<std::string, core::KernelModel>& models) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [kernel, model] : models)
    json[kernel] = nlohmann::ordered_json::parse(core::kernel_model_json(model));
  out << json;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  round_trip(text, core::read_cluster, core::write_cluster);
  round_trip(text, core::read_generative, core::write_generative);
  round_trip(text, core::read_prediction, core::write_prediction);
  round_trip(text, core::read_network_model,
             [](std::ostream& out, const core::NetworkModel& model) { out << core::network_model_json(model); });
  round_trip(text, core::read_kernel_models, write_kernel_models);
  round_trip(text, core::read_context,
             [](std::ostream& out, const core::MeasurementContext& context) { write_json(out, context); });
  // A published network and mixtures are read, and written as a network.
  const auto write_network = [](std::ostream& out, const core::NetworkModel& model) {
    out << core::network_model_json(model);
  };
  read_only(
      text, [](std::istream& in) { return core::read_network_table(in, "fuzz", "one"); }, write_network);
  read_only(
      text, [](std::istream& in) { return core::with_mixtures({}, in, "fuzz"); }, write_network);
  // What is not written again.
  const auto nothing = [](std::ostream&, const auto&) {};
  read_only(
      text, [](std::istream& in) { return core::read_detours(in, "fuzz"); }, nothing);
  read_only(
      text, [](std::istream& in) { return core::read_predictions(in, "fuzz"); }, nothing);
  read_only(
      text, [](std::istream& in) { return core::cluster_problems(in, "fuzz"); }, nothing);
  read_only(
      text,
      [](std::istream& in) {
        fit::NetworkFitOptions options;
        fit::set_thresholds(in, "fuzz", options);
        return options;
      },
      nothing);
  return 0;
}
