#include "smpi-models/observe/energy_meters.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::smpi_models {

namespace {

constexpr std::size_t most_bins = 10'000'000;  // 80 MB

double sum(const ByState& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), 0.0);
}

void add(ByState& to, const ByState& amounts) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += amounts[i];
}

std::size_t index(core::CoreState state) {
  return static_cast<std::size_t>(state);
}

void add(StateSums& sums, const StateMeter& meter) {
  add(sums.seconds, meter.seconds());
  add(sums.joules, meter.joules());
}

/// Whether a core of this host may be in a state that leaves it idle.
bool may_sleep(int cpus, const core::HostPower& power) {
  for (int cpu = 0; cpu < cpus; ++cpu)
    for (int state = 0; state < core::core_state_count; ++state)
      if (!power.is_active(cpu, static_cast<core::CoreState>(state))) return true;
  return false;
}

}  // namespace

/// Does not throw: ranks add to bins where nothing may be thrown (c_boundary.hpp).
double& PowerBins::at(std::size_t bin) {
  bin = std::min(bin, most_bins);
  if (bin >= joules_.size()) joules_.resize(bin + 1);
  return joules_[bin];
}

void PowerBins::add(double begin_s, double end_s, double w) {
  auto bin = static_cast<std::size_t>(std::max(0.0, begin_s) / bin_s_);
  while (bin < most_bins) {
    const double bin_end_s = static_cast<double>(bin + 1) * bin_s_;
    if (end_s <= bin_end_s) break;
    if (bin_end_s > begin_s) {
      at(bin) += w * (bin_end_s - begin_s);
      begin_s = bin_end_s;
    }
    ++bin;
  }
  if (w != 0) at(bin) += w * (end_s - begin_s);
}

void PowerBins::end(double time_s) {
  constexpr double rounding = 1e-9;  // of a bin: one so short is none
  const auto bins = static_cast<std::size_t>(std::max(1.0, std::ceil(time_s / bin_s_ - rounding)));
  if (bins > most_bins) {
    throw core::DomainError(
        "bin_s", core::shortest(bin_s_) + " s",
        "at most " + std::to_string(most_bins) + " bins in the " + core::shortest(time_s) + " s of the run",
        "take wider bins");
  }
  at(bins - 1) += 0;
  for (std::size_t more = bins; more < joules_.size(); ++more) joules_[bins - 1] += joules_[more];
  joules_.resize(bins);
}

void ActiveTime::add(double begin_s, double end_s) {
  if (!(end_s > begin_s)) return;
  auto next = parts_.upper_bound(begin_s);
  if (next != parts_.begin() && std::prev(next)->second >= begin_s) {
    --next;
    begin_s = next->first;
  }
  while (next != parts_.end() && next->first <= end_s) {
    end_s = std::max(end_s, next->second);
    next = parts_.erase(next);
  }
  parts_.emplace(begin_s, end_s);
}

void StateMeter::begin(double now_s, double origin_s) {
  seconds_ = noted_ = since_note_ = {};
  origin_s_ = origin_s;
  begun_s_ = ended_s_ = since_s_ = now_s;
  active_begin_s_ = active_end_s_ = 0;
  runs_ = true;
}

void StateMeter::end(core::CoreState state, double now_s) {
  until(state, now_s);
  ended_s_ = now_s;
  runs_ = false;
}

/// Where the time is still known: 0 or less than that by rounding.
void StateMeter::pass(core::CoreState state, double now_s) {
  const double duration_s = now_s - since_s_;
  if (duration_s == 0) return;
  seconds_[index(state)] += duration_s;
  const double begin_s = since_s_ - origin_s_, end_s = now_s - origin_s_;
  since_s_ = now_s;
  const double w = watts_[index(state)];
  if (w <= 0) return;
  host_->add_watts(begin_s, end_s, w);
  if (host_->sleeps()) active_until(begin_s, end_s);
}

void StateMeter::active_until(double begin_s, double end_s) {
  if (begin_s > active_end_s_) {
    host_->add_active(active_begin_s_, active_end_s_);
    active_begin_s_ = begin_s;
  }
  active_end_s_ = end_s;
}

void StateMeter::note() {
  if (!runs_) return;
  add(noted_, since_note_);
  since_note_ = {};
  notes_ = true;
}

/// Each state has its share of every moment up to `end_s`. On a host that may sleep, states that keep it awake come
/// first.
void StateMeter::spread(const ByState& amounts, double end_s) {
  const double all_s = sum(amounts), duration_s = end_s - since_s_;
  if (!(all_s > 0)) return pass(core::CoreState::messages, end_s);
  double energy_j = 0, active_s = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const double state_s = amounts[i] / all_s * duration_s;
    seconds_[i] += state_s;
    energy_j += state_s * watts_[i];
    if (watts_[i] > 0) active_s += state_s;
  }
  const double begin_s = since_s_ - origin_s_;
  since_s_ = end_s;
  if (!(duration_s > 0) || energy_j <= 0) return;
  host_->add_watts(begin_s, begin_s + duration_s, energy_j / duration_s);
  if (host_->sleeps()) active_until(begin_s, begin_s + active_s);
}

void StateMeter::settle(double done_s, double on_s, double now_s) {
  if (!notes_) return;
  notes_ = false;
  double kernels_s = 0;
  for (int i = 0; i < core::kernel_count; ++i) kernels_s += noted_[static_cast<std::size_t>(i)];
  if (kernels_s > 0)
    for (int i = 0; i < core::kernel_count; ++i) noted_[static_cast<std::size_t>(i)] *= 1 + stretched_s_ / kernels_s;
  const double messages_s = done_s - since_s_ - sum(noted_);
  noted_[index(core::CoreState::messages)] += std::max(0.0, messages_s);
  noted_[index(core::CoreState::blocked)] += on_s - done_s;
  spread(noted_, on_s);
  spread(since_note_, now_s);
  noted_ = since_note_ = {};
  stretched_s_ = 0;
}

double StateMeter::total_s() const {
  return sum(seconds_);
}

ByState StateMeter::joules() const {
  ByState joules;
  for (std::size_t i = 0; i < joules.size(); ++i) joules[i] = host_->power().at_wall_w(seconds_[i] * watts_[i]);
  return joules;
}

void StateMeter::fill(double time_s) {
  pass(core::CoreState::blocked, begun_s_ + time_s);
  if (host_->sleeps()) host_->add_active(active_begin_s_, active_end_s_);
}

void HostMeter::begin() {
  active_ = ActiveTime();
  awake_s_ = 0;
}

void HostMeter::add_active(double begin_s, double end_s) {
  active_.add(begin_s, end_s);
  constexpr std::size_t many = 256;
  if (active_.parts() < many) return;
  double settled_s = std::numeric_limits<double>::infinity();
  for (const StateMeter* rank : ranks_) settled_s = std::min(settled_s, rank->held_from_s());
  active_.take_until(settled_s, [this](double from_s, double to_s) { add_awake(from_s, to_s); });
}

void HostMeter::add_awake(double begin_s, double end_s) {
  awake_s_ += end_s - begin_s;
  add_watts(begin_s, end_s, power_.awake_w());
}

double HostMeter::end(double time_s) {
  // Ranks begin at slightly different times: the last of them may end a little after the time of the run.
  if (sleeps_)
    active_.take_until(time_s, [this](double from_s, double to_s) { add_awake(from_s, to_s); });
  else
    add_awake(0, time_s);
  add_watts(0, time_s, power_.idle_w());
  return awake_s_;
}

EnergyAccount::EnergyAccount(const core::ClusterModel& cluster, const core::EnergySettings& settings)
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
  return hosts_.emplace(host, HostMeter(power, bins, may_sleep(cluster_.hosts.cpus_of(host), power))).first->second;
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

core::SimulatedEnergy EnergyAccount::end() {
  core::SimulatedEnergy result;
  core::Energy& energy = result.energy;
  double time_s = 0;
  for (const StateMeter& meter : meters_) time_s = std::max(time_s, meter.time_s());
  StateSums sums;
  for (StateMeter& meter : meters_) {
    meter.fill(time_s);
    add(sums, meter);
  }
  double awake_s = 0;
  for (auto& [index, host] : hosts_) {
    const double host_awake_s = host.end(time_s);
    awake_s += host_awake_s;
    energy.idle_j += host.power().at_wall_w(host.power().idle_w() * time_s);
    energy.awake_j += host.power().at_wall_w(host.power().awake_w() * host_awake_s);
  }
  const auto used = static_cast<double>(hosts_.size());
  if (time_s > 0) energy.awake_share = std::min(1.0, awake_s / (used * time_s));
  const double network_w = cluster_.power->values().network_w * used / cluster_.hosts.count();
  energy.network_j = network_w * time_s;
  energy.energy_j =
      std::accumulate(sums.joules.begin(), sums.joules.end(), energy.idle_j + energy.awake_j + energy.network_j);
  for (std::size_t i = 0; i < sums.seconds.size(); ++i)
    if (sums.seconds[i] != 0)
      energy.states.push_back({core::to_string(static_cast<core::CoreState>(i)), sums.seconds[i], sums.joules[i]});
  result.trace.time_s = time_s;
  if (settings_.bin_s > 0) end_bins(result.trace, network_w);
  return result;
}

void EnergyAccount::end_bins(core::PowerTrace& trace, double network_w) {
  trace.bin_s = settings_.bin_s;
  all_.add(0, trace.time_s, network_w);
  all_.end(trace.time_s);
  trace.bins_j = all_.joules();
  for (auto& [index, bins] : bins_) {
    bins.end(trace.time_s);
    for (std::size_t i = 0; i < trace.bins_j.size(); ++i) trace.bins_j[i] += bins.joules()[i];
    trace.hosts.push_back({cluster_.hosts.names()[static_cast<std::size_t>(index)], bins.joules()});
  }
}

}  // namespace hplcast::smpi_models
