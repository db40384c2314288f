#include <algorithm>
#include <sstream>

#include "campaign_fit.hpp"
#include "hplcast/calibration/doctor.hpp"
#include "hplcast/core/csv.hpp"

namespace hplcast::cli {

namespace {

using Flags = std::vector<fit::QualityFlag>;

void append(Flags& flags, Flags more) {
  flags.insert(flags.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Designed calls only: those of HPL have sizes that change with time.
void flag_dgemm(const CampaignData& data, const core::ClusterModel& cluster, Flags& flags) {
  const core::KernelModel& model = cluster.kernels.at("dgemm");
  std::vector<fit::RelativeCall> calls;
  for (const core::KernelMeasurement& row : data.designed) {
    if (!row.error.empty()) continue;
    const auto same = [&](const calibration::MachineDescription& machine) { return machine.host == row.host; };
    const auto& machines = data.context.machines;
    const auto host = std::find_if(machines.begin(), machines.end(), same) - machines.begin();
    const double expected_s = model.law(static_cast<int>(host), row.cpu).at(row.shape).mean_s(row.shape);
    if (expected_s > 0) calls.push_back({row.start_s, row.duration_s / expected_s});
  }
  append(flags, fit::quality_flags("dgemm", std::move(calls)));
}

/// Expected duration of a row; 0 for operations whose model is one number.
double expected_s(const core::NetworkModel& network, const core::MpiMeasurement& row) {
  using core::MessageCost;
  const core::ScopeModel& scope = network.scope(row.scope == "remote" ? core::Scope::remote : core::Scope::local);
  const auto cost_s = [&](MessageCost which) { return scope.cost(which).mean_s(row.size_bytes); };
  if (row.operation == "send") return cost_s(MessageCost::send);
  if (row.operation == "isend") return cost_s(MessageCost::isend);
  if (row.operation == "recv") return cost_s(MessageCost::recv);
  if (row.operation != "pingpong") return 0;
  const bool waits = row.size_bytes >= static_cast<double>(network.values().detached_bytes);
  const double overhead_s = waits ? 0 : cost_s(MessageCost::send) + cost_s(MessageCost::recv);
  return 2 * (cost_s(MessageCost::transfer) + overhead_s);
}

void flag_messages(const CampaignData& data, const core::NetworkModel& network, Flags& flags) {
  std::map<std::string, std::vector<fit::RelativeCall>> calls;
  for (const core::MpiMeasurement& row : data.messages) {
    const double expected = row.error.empty() ? expected_s(network, row) : 0;
    if (expected > 0) calls[row.operation + " " + row.scope].push_back({row.start_s, row.duration_s / expected});
  }
  for (auto& [operation, list] : calls) append(flags, fit::quality_flags(operation, std::move(list)));
}

/// Kernels of HPL other than dgemm: sizes change with time, so that only their number can be judged.
void flag_few_calls(const CampaignData& data, Flags& flags) {
  constexpr long few = 30;
  for (const auto& [kernel, table] : data.kernels) {
    if (kernel != "dgemm" && table.rows() < few)
      flags.push_back({kernel, "too_few_repetitions", std::to_string(table.rows()) + " calls in the runs of HPL"});
  }
}

/// A counter of throttling that grew while something was measured.
void flag_throttling(const CampaignFiles& files, Flags& flags) {
  std::map<std::string, std::pair<double, double>> counts;  // host and sensor: least, largest
  for (const auto& [name, text] : files) {
    if (name.compare(0, 11, "monitoring/") != 0) continue;
    std::istringstream in(text);
    core::CsvReader csv(in, name);
    const std::size_t host = csv.column("host"), quantity = csv.column("quantity"), sensor = csv.column("sensor"),
                      value = csv.column("value");
    while (csv.next()) {
      if (csv.text(quantity) != "throttle_count") continue;
      const double count = csv.number(value);
      const auto key = std::string(csv.text(host)) + " " + std::string(csv.text(sensor));
      auto& range = counts.emplace(key, std::make_pair(count, count)).first->second;
      range = {std::min(range.first, count), std::max(range.second, count)};
    }
  }
  for (const auto& [key, range] : counts) {
    if (range.second > range.first)
      flags.push_back({key, "throttling",
                       "the hardware slowed down " + core::shortest(range.second - range.first) +
                           " times because of heat while measuring"});
  }
}

/// The state of the hosts before the measurement.
void flag_hosts(const calibration::MeasurementContext& context, Flags& flags) {
  if (calibration::is_oversubscribed(context))
    flags.push_back({"hosts", "oversubscribed", "several ranks shared a core: durations are those of shared cores"});
  for (const calibration::MachineDescription& machine : context.machines) {
    for (const calibration::Check& check : calibration::examine(machine, {}, std::nullopt)) {
      const bool matters = check.name == "load" || check.name == "other users" || check.name == "frequency governor";
      if (check.status == calibration::CheckStatus::warn && matters)
        flags.push_back({machine.host, "busy_host", check.name + ": " + check.found});
    }
    const auto ranks = std::count_if(context.ranks.begin(), context.ranks.end(),
                                     [&](const calibration::RankPlace& place) { return place.host == machine.host; });
    if (ranks < machine.cores)
      flags.push_back(
          {machine.host, "idle_cores",
           std::to_string(ranks) + " of " + std::to_string(machine.cores) +
               " cores were measured: all cores together are slower; the model has only the measured ones"});
  }
}

/// Sizes of that run beyond those measured.
void flag_range(const core::ClusterModel& cluster, const calibration::HplGrid& grid, Flags& flags) {
  const std::string run = "N=" + std::to_string(grid.N) + ", NB=" + std::to_string(grid.NB) + ", " +
                          std::to_string(grid.P) + "x" + std::to_string(grid.Q);
  const auto& range = cluster.kernels.at("dgemm").range();
  long outside = 0;
  const auto updates = calibration::hpl_update_shapes(grid);
  for (const calibration::DgemmShape& shape : updates) {
    const core::KernelShape asked{static_cast<double>(shape.m), static_cast<double>(shape.n),
                                  static_cast<double>(shape.k)};
    if (range && (asked.m > range->max.m || asked.n > range->max.n || asked.k > range->max.k)) ++outside;
  }
  if (outside > 0)
    flags.push_back({"dgemm", "range",
                     std::to_string(outside) + " of " + std::to_string(updates.size()) + " update shapes of " + run +
                         " are larger than any measured"});
  const std::vector<long> messages = calibration::hpl_message_bytes(grid);
  const core::NetworkModel::Values& network = cluster.network.values();
  const double measured = network.remote ? network.remote->max_bytes : network.local.max_bytes;
  if (!messages.empty() && static_cast<double>(messages.back()) > measured)
    flags.push_back({"network", "range",
                     run + " sends messages of up to " + std::to_string(messages.back()) +
                         " bytes; the largest measured has " + core::shortest(measured)});
}

}  // namespace

Flags campaign_flags(const CampaignFiles& files, const CampaignData& data, const core::ClusterModel& cluster,
                     const std::optional<calibration::HplGrid>& for_hpl) {
  Flags flags;
  flag_hosts(data.context, flags);
  flag_throttling(files, flags);
  if (!data.designed.empty()) flag_dgemm(data, cluster, flags);
  flag_few_calls(data, flags);
  flag_messages(data, cluster.network, flags);
  if (for_hpl) flag_range(cluster, *for_hpl, flags);
  return flags;
}

}  // namespace hplcast::cli
