#include "smpi-models/observe/energy_meters.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

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
  auto bin = static_cast<std::size_t>(std::clamp(begin_s / bin_s_, 0.0, static_cast<double>(most_bins)));
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
  const double needed = std::max(1.0, std::ceil(time_s / bin_s_ - rounding));
  if (!(needed <= static_cast<double>(most_bins)))
    throw core::DomainError(
        "bin_s", core::shortest(bin_s_) + " s",
        "at most " + std::to_string(most_bins) + " bins in the " + core::shortest(time_s) + " s of the run",
        "take wider bins");
  const auto bins = static_cast<std::size_t>(needed);
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

CpuFrequency::CpuFrequency(const core::ClusterModel& cluster, int host, int cpu,
                           std::vector<const core::FrequencySchedule*> schedules, ControlledGroup* group)
    : cluster_(cluster),
      host_(host),
      cpu_(cpu),
      hz_(*cluster.power->frequency_hz(host, cpu)),
      schedules_(std::move(schedules)),
      group_(group) {}

const CpuFrequency::Level& CpuFrequency::level(double hz) {
  const auto [place, is_new] = levels_.try_emplace(hz);
  Level& level = place->second;
  if (!is_new) return level;
  const core::PowerModel& power = *cluster_.power;
  const core::FrequencyModel& model = *power.values().frequency;
  for (int kernel = 0; kernel < core::kernel_count; ++kernel)
    level.slower[static_cast<std::size_t>(kernel)] = model.time_factor(static_cast<core::KernelId>(kernel), hz_, hz);
  level.slower[other_code] = model.time_factor(std::nullopt, hz_, hz);
  for (int state = 0; state < core::core_state_count; ++state)
    level.watts[static_cast<std::size_t>(state)] = power.core(host_, cpu_, static_cast<core::CoreState>(state)).at(hz);
  level.idle_w = power.idle(host_).at(hz) / cluster_.hosts.cpus_of(host_);
  level.awake_w = power.awake(host_).at(hz) / cluster_.hosts.cpus_of(host_);
  return level;
}

const CpuFrequency::Level& CpuFrequency::level_at(double time_s, double limit_hz) {
  return level(std::min(limit_hz, core::scheduled_frequency(schedules_, hz_, time_s).hz));
}

CpuFrequency::Span CpuFrequency::at(double time_s) {
  const core::FrequencyUntil scheduled = core::scheduled_frequency(schedules_, hz_, time_s);
  if (group_ == nullptr) return {level(scheduled.hz), scheduled.until_s};
  const core::FrequencyUntil limit = group_->limit(time_s);
  return {level(std::min(scheduled.hz, limit.hz)), std::min(scheduled.until_s, limit.until_s)};
}

double CpuFrequency::known_until_s() const {
  return group_ == nullptr ? std::numeric_limits<double>::infinity() : group_->next_s();
}

void CpuFrequency::learn_until(double time_s) {
  if (group_ != nullptr) group_->look_until(time_s);
}

core::FrequencyUntil ControlledGroup::limit(double time_s) const {
  const auto next = std::upper_bound(limits_.begin(), limits_.end(), time_s,
                                     [](double time, const Limit& limit) { return time < limit.from_s; });
  return {std::prev(next)->hz, next == limits_.end() ? next_s() : next->from_s};
}

void ControlledGroup::look_until(double time_s) {
  while (next_s() <= time_s) {
    const double now_s = next_s();
    const double mean_w = read_j(now_s) / controller_.period_s;
    ++looks_;
    const std::size_t before = step_;
    if (mean_w > controller_.cap_w)
      step_ = std::min(step_ + 1, steps_hz_.size() - 1);
    else if (step_ > 0 && mean_w + busy_w(step_ - 1, now_s) - busy_w(step_, now_s) <= controller_.cap_w)
      --step_;
    if (step_ != before) limits_.push_back({now_s, steps_hz_[step_]});
    for (const Member& one : hosts_)
      for (StateMeter* rank : one.host->ranks()) rank->count_told();
  }
}

/// At the wall, from the last look until now.
double ControlledGroup::read_j(double now_s) {
  const double since_s = static_cast<double>(looks_) * controller_.period_s;
  double all_j = 0;
  for (Member& one : hosts_) {
    one.read_j.resize(one.host->ranks().size());
    double cores_j = 0, host_j = 0;
    for (std::size_t i = 0; i < one.read_j.size(); ++i) {
      const double before_j = std::exchange(one.read_j[i], one.host->ranks()[i]->told_j(now_s));
      cores_j += one.read_j[i] - before_j;
    }
    for (CpuFrequency* cpu : one.host->cpus())
      host_j += cpu->integral(since_s, now_s, [&](double, double, const CpuFrequency::Level& level) {
        return level.idle_w + (cores_j > 0 ? level.awake_w : 0);
      });
    all_j += one.host->power().at_wall_w(host_j + cores_j);
  }
  return all_j;
}

/// At the wall with all ranks in dgemm.
double ControlledGroup::busy_w(std::size_t step, double time_s) const {
  double sum_w = 0;
  for (const Member& one : hosts_) {
    double host_w = 0;
    for (CpuFrequency* cpu : one.host->cpus()) {
      const CpuFrequency::Level& level = cpu->level_at(time_s, steps_hz_[step]);
      host_w += level.idle_w + level.awake_w;
    }
    for (const StateMeter* rank : one.host->ranks())
      host_w +=
          rank->frequency()->level_at(time_s, steps_hz_[step]).watts[index(core::state_of(core::KernelId::dgemm))];
    sum_w += one.host->power().at_wall_w(host_w);
  }
  return sum_w;
}

void StateMeter::begin(double now_s, double origin_s) {
  more_j_ = {};
  told_.clear();
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

void StateMeter::pass(core::CoreState state, double now_s) {
  if (frequency_ == nullptr) return count(state, now_s, watts_[index(state)]);
  told_.push_back({state, now_s});
  count_told();
}

void StateMeter::count_told() {
  const double known_s = frequency_->known_until_s();
  while (!told_.empty() && since_s_ < known_s) {
    const auto [state, until_s] = told_.front();
    const double end_s = std::min(until_s, known_s);
    do {  // once also for an end that is before by rounding
      const CpuFrequency::Span span = frequency_->at(since_s_);
      const double to_s = std::min(span.until_s, end_s), w = span.level.watts[index(state)];
      more_j_[index(state)] += (to_s - since_s_) * (w - watts_[index(state)]);
      counted_j_ += (to_s - since_s_) * w;
      count(state, to_s, w);
    } while (since_s_ < end_s);
    if (end_s < until_s) return;
    told_.pop_front();
  }
}

double StateMeter::told_j(double until_s) const {
  if (!runs_ || until_s <= since_s_) return counted_j_;
  return counted_j_ + frequency_->integral(since_s_, until_s, [this](double, double, const CpuFrequency::Level& level) {
    return level.watts[index(expected_)];
  });
}

/// Where the time is still known: 0 or less than that by rounding.
void StateMeter::count(core::CoreState state, double now_s, double w) {
  const double duration_s = now_s - since_s_;
  if (duration_s == 0) return;
  seconds_[index(state)] += duration_s;
  const double begin_s = since_s_ - origin_s_, end_s = now_s - origin_s_;
  since_s_ = now_s;
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
  for (std::size_t i = 0; i < joules.size(); ++i)
    joules[i] = host_->power().at_wall_w(seconds_[i] * watts_[i] + more_j_[i]);
  return joules;
}

void StateMeter::hand_over() {
  if (host_->sleeps()) host_->add_active(active_begin_s_, active_end_s_);
}

void HostMeter::begin(double origin_s) {
  active_ = ActiveTime();
  awake_s_ = more_awake_j_ = 0;
  origin_s_ = origin_s;
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
  more_awake_j_ += add_changes(begin_s, end_s, &CpuFrequency::Level::awake_w, power_.awake_w());
}

/// Joules that the frequencies of the CPUs add to w.
double HostMeter::add_changes(double begin_s, double end_s, double CpuFrequency::Level::*share, double w) {
  double sum_j = 0;
  for (CpuFrequency* cpu : cpus_)
    sum_j += cpu->integral(origin_s_ + begin_s, origin_s_ + end_s, [&](double from_s, double to_s, const auto& level) {
      const double more_w = level.*share - w / static_cast<double>(cpus_.size());
      add_watts(from_s - origin_s_, to_s - origin_s_, more_w);
      return more_w;
    });
  return sum_j;
}

HostMeter::Whole HostMeter::end(double time_s) {
  // Ranks begin at slightly different times: the last of them may end a little after the time of the run.
  if (sleeps_)
    active_.take_until(time_s, [this](double from_s, double to_s) { add_awake(from_s, to_s); });
  else
    add_awake(0, time_s);
  add_watts(0, time_s, power_.idle_w());
  const double more_idle_j = add_changes(0, time_s, &CpuFrequency::Level::idle_w, power_.idle_w());
  return {awake_s_, power_.awake_w() * awake_s_ + more_awake_j_, power_.idle_w() * time_s + more_idle_j};
}

EnergyAccount::EnergyAccount(const core::ClusterModel& cluster, const core::EnergySettings& settings)
    : cluster_(cluster), settings_(settings), all_(settings.bin_s > 0 ? settings.bin_s : 1) {
  if (!cluster.power)
    throw core::DomainError("power of cluster " + cluster.name, "missing", "watts of its hosts (docs/use/energy.md)");
  if (core::frequency_changes(cluster.power)) find_changes(*cluster.power->values().frequency);
}

void EnergyAccount::find_changes(const core::FrequencyModel& frequency) {
  const core::Hosts& hosts = cluster_.hosts;
  schedules_.resize(static_cast<std::size_t>(hosts.count()));
  group_of_.resize(schedules_.size());
  for (const core::FrequencySchedule& schedule : frequency.schedules)
    for (const int host : core::hosts_named(schedule.hosts, hosts))
      schedules_[static_cast<std::size_t>(host)].push_back(&schedule);
  for (const core::PowerController& controller : frequency.controllers)
    for (const std::vector<int>& group : core::groups_of(controller, hosts)) {
      double most_hz = 0;
      for (const int host : group) {
        for (int cpu = 0; cpu < hosts.cpus_of(host); ++cpu)
          most_hz = std::max(most_hz, *cluster_.power->frequency_hz(host, cpu));
        for (const core::FrequencySchedule* schedule : schedules_[static_cast<std::size_t>(host)])
          most_hz = std::max(most_hz, *std::max_element(schedule->hz.begin(), schedule->hz.end()));
      }
      groups_.emplace_back(controller, frequency.steps_below(most_hz, controller.step_hz));
      for (const int host : group) group_of_[static_cast<std::size_t>(host)] = &groups_.back();
    }
}

void EnergyAccount::add_changes(int host, HostMeter& meter) {
  if (schedules_.empty()) return;
  const auto place = static_cast<std::size_t>(host);
  for (int cpu = 0; cpu < cluster_.hosts.cpus_of(host); ++cpu) {
    std::vector<const core::FrequencySchedule*> own;
    for (const core::FrequencySchedule* one : schedules_[place])
      if (one->cpu.value_or(cpu) == cpu) own.push_back(one);
    meter.add_cpu(frequencies_.emplace_back(cluster_, host, cpu, std::move(own), group_of_[place]));
  }
  if (group_of_[place] != nullptr) group_of_[place]->add(meter);
}

HostMeter& EnergyAccount::host_meter(int host) {
  const auto found = hosts_.find(host);
  if (found != hosts_.end()) return found->second;
  const core::HostPower power(*cluster_.power, cluster_.hosts, host);
  PowerBins* bins = nullptr;
  if (settings_.bin_s > 0) bins = settings_.hosts ? &bins_.emplace(host, settings_.bin_s).first->second : &all_;
  HostMeter& meter =
      hosts_.emplace(host, HostMeter(power, bins, may_sleep(cluster_.hosts.cpus_of(host), power))).first->second;
  add_changes(host, meter);
  return meter;
}

StateMeter& EnergyAccount::add_rank(int host, int cpu) {
  HostMeter& its_host = host_meter(host);
  ByState watts;
  for (std::size_t i = 0; i < watts.size(); ++i)
    watts[i] = its_host.power().core_w(cpu, static_cast<core::CoreState>(static_cast<int>(i)));
  CpuFrequency* const frequency = its_host.cpus().empty() ? nullptr : its_host.cpus()[static_cast<std::size_t>(cpu)];
  StateMeter& meter = meters_.emplace_back(its_host, watts, frequency);
  its_host.add_rank(meter);
  return meter;
}

void EnergyAccount::begin(StateMeter& meter, double now_s) {
  if (begun_++ % meters_.size() == 0) {
    origin_s_ = now_s;
    all_ = PowerBins(all_.bin_s());
    for (auto& [host, bins] : bins_) bins = PowerBins(bins.bin_s());
    for (auto& [index, host] : hosts_) host.begin(origin_s_);
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
  double time_s = 0, last_s = 0;
  for (const StateMeter& meter : meters_) time_s = std::max(time_s, meter.time_s());
  StateSums sums;
  for (StateMeter& meter : meters_) last_s = std::max(last_s, meter.fill(time_s));
  for (CpuFrequency& frequency : frequencies_) frequency.learn_until(last_s);
  for (StateMeter& meter : meters_) {
    meter.hand_over();
    add(sums, meter);
  }
  double awake_s = 0;
  for (auto& [index, host] : hosts_) {
    const HostMeter::Whole whole = host.end(time_s);
    awake_s += whole.awake_s;
    energy.idle_j += host.power().at_wall_w(whole.idle_j);
    energy.awake_j += host.power().at_wall_w(whole.awake_j);
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
