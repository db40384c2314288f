#include "window_results.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "hplcast/core/cluster_json.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/study/simgrid_parts.hpp"

namespace hplcast::study {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* file_name = "window.json";

std::string name_of(const PredictionRequest& request, const PanelWindow& window) {
  std::ostringstream name;
  name << "hplcast " HPLCAST_VERSION " SimGrid " << linked_simgrid_version(simulated_hpl(request.programs)) << ' '
       << core::cluster_sha256(request.cluster) << ' ' << core::to_string(request.parameters)
       << " seed=" << request.seed << " mode=" << (mode_of(request) == SimulationMode::fast ? "fast" : "exact")
       << " noise=" << request.noise << (request.observation.phases ? " phases" : "")
       << (request.observation.energy ? " energy" : "") << " panels=" << window.first << '-' << window.simulated_to
       << " exact from " << window.exact_from << '\n';
  core::write_hpl_dat(name, request.parameters, false);
  return core::sha256_hex(name.str());
}

}  // namespace

WindowResult::WindowResult(const PredictionRequest& request, const PanelWindow& window,
                           const std::filesystem::path& folder)
    : path_(folder / file_name), request_(name_of(request, window)) {}

std::optional<HplSimulation> WindowResult::read() const {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return std::nullopt;
  Json json;
  core::read_file(
      path_, [&](std::istream& in, const std::string& name) { json = Json::parse(core::read_json_text(in, name)); });
  if (json.value("request", "") != request_) return std::nullopt;
  HplSimulation simulation;
  std::istringstream prediction(json.at("prediction").dump());
  simulation.prediction = core::read_prediction(prediction, path_.string());
  simulation.panel_marks_s = json.at("panel_marks_s").get<std::vector<double>>();
  simulation.counts_at_panels = json.at("counts_at_panels").get<CountsAtPanels>();
  return simulation;
}

void WindowResult::write(const HplSimulation& simulation) const {
  std::ostringstream prediction;
  core::write_prediction(prediction, simulation.prediction);
  const Json json = {{"request", request_},
                     {"prediction", Json::parse(prediction.str())},
                     {"panel_marks_s", simulation.panel_marks_s},
                     {"counts_at_panels", simulation.counts_at_panels}};
  core::write_file(path_, [&](std::ostream& out) { out << json.dump(1) << '\n'; });
}

}  // namespace hplcast::study
