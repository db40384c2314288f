#include "energy_account.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

namespace {

void add(StateSums& sums, const StateMeter& meter) {
  const ByState joules = meter.joules();
  for (std::size_t i = 0; i < joules.size(); ++i) {
    sums.seconds[i] += meter.seconds()[i];
    sums.joules[i] += joules[i];
  }
}

/// Whether a core of this host may be in a state that leaves it idle.
bool may_sleep(const core::ClusterModel& cluster, const core::HostPower& power) {
  for (int cpu = 0; cpu < cluster.hosts.values().cpus; ++cpu)
    for (int state = 0; state < core::core_state_count; ++state)
      if (!power.is_active(cpu, static_cast<core::CoreState>(state))) return true;
  return false;
}

}  // namespace

EnergyAccount::EnergyAccount(const core::ClusterModel& cluster, const EnergySettings& settings)
    : cluster_(cluster), settings_(settings), all_(settings.bin_s > 0 ? settings.bin_s : 1) {
  if (!cluster.power)
    throw core::DomainError("power of cluster " + cluster.name, "missing", "watts of its hosts (docs/use/energy.md)");
}

HostMeter& EnergyAccount::host_meter(int host) {
  const auto found = hosts_.find(host);
  if (found != hosts_.end()) return found->second;
  const core::HostPower power(*cluster_.power, cluster_.hosts, host);
  PowerBins* bins = nullptr;
  if (settings_.bin_s > 0) bins = settings_.hosts ? &bins_.emplace(host, settings_.bin_s).first->second : &all_;
  return hosts_.emplace(host, HostMeter(power, bins, may_sleep(cluster_, power))).first->second;
}

StateMeter& EnergyAccount::add_rank(int host, int cpu) {
  HostMeter& its_host = host_meter(host);
  ByState watts;
  for (std::size_t i = 0; i < watts.size(); ++i)
    watts[i] = its_host.power().core_w(cpu, static_cast<core::CoreState>(static_cast<int>(i)));
  StateMeter& meter = meters_.emplace_back(its_host, watts);
  its_host.add_rank(meter);
  return meter;
}

void EnergyAccount::begin(StateMeter& meter, double now_s) {
  if (begun_++ % meters_.size() == 0) {
    origin_s_ = now_s;
    all_ = PowerBins(all_.bin_s());
    for (auto& [host, bins] : bins_) bins = PowerBins(bins.bin_s());
    for (auto& [index, host] : hosts_) host.begin();
  }
  meter.begin(now_s, origin_s_);
}

void EnergyAccount::begin_panel(std::size_t mark, const StateMeter& meter) {
  if (at_marks_.size() <= mark) at_marks_.resize(mark + 1);
  add(at_marks_[mark], meter);
}

EnergyTotals EnergyAccount::end() {
  EnergyTotals totals;
  totals.begun_s = origin_s_;
  for (const StateMeter& meter : meters_) totals.time_s = std::max(totals.time_s, meter.time_s());
  for (StateMeter& meter : meters_) {
    meter.fill(totals.time_s);
    add(totals.states, meter);
  }
  double awake_s = 0;
  for (auto& [index, host] : hosts_) {
    const double host_awake_s = host.end(totals.time_s);
    awake_s += host_awake_s;
    totals.idle_j += host.power().at_wall_w(host.power().idle_w() * totals.time_s);
    totals.awake_j += host.power().at_wall_w(host.power().awake_w() * host_awake_s);
  }
  const auto used = static_cast<double>(hosts_.size());
  if (totals.time_s > 0) totals.awake_share = std::min(1.0, awake_s / (used * totals.time_s));
  const double network_w = cluster_.power->values().network_w * used / cluster_.hosts.count();
  totals.network_j = network_w * totals.time_s;
  if (settings_.bin_s > 0) end_bins(totals, network_w);
  return totals;
}

void EnergyAccount::end_bins(EnergyTotals& totals, double network_w) {
  core::PowerTrace& trace = totals.trace;
  trace.bin_s = settings_.bin_s;
  trace.time_s = totals.time_s;
  all_.add(0, totals.time_s, network_w);
  all_.end(totals.time_s);
  trace.bins_j = all_.joules();
  for (auto& [index, bins] : bins_) {
    bins.end(totals.time_s);
    for (std::size_t i = 0; i < trace.bins_j.size(); ++i) trace.bins_j[i] += bins.joules()[i];
    trace.hosts.push_back({cluster_.hosts.names()[static_cast<std::size_t>(index)], bins.joules()});
  }
}

}  // namespace hplcast::smpi_models
