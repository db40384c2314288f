#include "hplcast/study/resolve.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/environment.h"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "hplcast/study/predict.hpp"
#include "hplcast/study/transform.hpp"
#include "study/run/hpl_simulation.hpp"
#include "study/run/local_machine.hpp"

namespace hplcast::study {

namespace {

// --- the mode, the windows, what they need ---

/// Messages that exact mode simulates for all panels, and fast mode does not.
double messages_saved_by_fast(const core::HplParameters& p) {
  return SimulationNeeds::of_all_panels(p, SimulationMode::exact).simulated_messages -
         SimulationNeeds::of_all_panels(p, SimulationMode::fast).simulated_messages;
}

/// exact or fast: the meaning of `automatic` if all panels are simulated.
SimulationMode mode_of_all_panels(const PredictionRequest& request) {
  if (request.mode != SimulationMode::automatic) return request.mode;
  if (core::frequency_changes(request.cluster.power)) return SimulationMode::exact;
  if (observes_messages(request.observation) || platform_library(request.programs).empty())
    return SimulationMode::exact;
  return messages_saved_by_fast(request.parameters) < fast_from_messages ? SimulationMode::exact : SimulationMode::fast;
}

/// Whether windows save time. Fewer rounds of the process grid than `least_rounds`: windows would be as long as the
/// run.
bool worth_sampling(const PredictionRequest& request, int panels, SimulationMode unsampled_mode) {
  constexpr int least_rounds = 15;
  constexpr double worth_sampling_s = 5;
  const core::HplParameters& p = request.parameters;
  return (request.only_window || !is_observed(request.observation)) &&
         !core::frequency_changes(request.cluster.power) && panels > least_rounds * std::max(p.P, p.Q) &&
         SimulationNeeds::of_all_panels(p, unsampled_mode).wall_s > worth_sampling_s;
}

WindowRule all_at_once(WindowRule rule) {
  rule.target = 0;
  return rule;
}

/// `rule` with fewer panels, and a larger error, where windows are chosen automatically and all that it allows would
/// take long.
WindowRule affordable(const PredictionRequest& request, WindowRule rule) {
  constexpr double costly_s = 20, costly_target = 0.01;
  constexpr int fewer_panels = 320;
  const core::HplParameters& p = request.parameters;
  const double share = WindowPlan::make(p, all_at_once(rule)).simulated_share();
  const bool is_costly = share * SimulationNeeds::of_all_panels(p, SimulationMode::fast).wall_s > costly_s;
  // Where auto would take fast mode, an exact panel costs twice as much; one with long swaps, or of many ranks, more.
  const bool exact_is_costly =
      request.mode == SimulationMode::exact && share * messages_saved_by_fast(p) >= fast_from_messages_in_windows;
  if (is_costly || exact_is_costly) rule.panels = std::min(rule.panels, fewer_panels);
  if (is_costly && rule.target > 0) rule.target = std::max(rule.target, costly_target);
  return rule;
}

WindowPlan windows_of(const PredictionRequest& request, SimulationMode unsampled_mode) {
  const WindowRule& rule = request.windows;
  if (rule.kind == WindowRule::Kind::as_given) return WindowPlan::make(request.parameters, rule);
  const WindowPlan all = WindowPlan::make(request.parameters, WindowRule::from("off"));
  if (rule.kind == WindowRule::Kind::off || !worth_sampling(request, all.panels, unsampled_mode)) return all;
  const WindowRule taken = affordable(request, rule);
  constexpr double largest_share = 0.7;
  const WindowPlan most = WindowPlan::make(request.parameters, all_at_once(taken));
  if (most.simulated_share() >= largest_share) return all;
  WindowPlan first = WindowPlan::make(request.parameters, taken);
  first.most_panels = static_cast<int>(std::lround(most.simulated_share() * most.panels));
  return first;
}

/// exact or fast: the meaning of `automatic` in these windows.
SimulationMode mode_of(const PredictionRequest& request, SimulationMode unsampled_mode, const WindowPlan& windows) {
  if (request.mode != SimulationMode::automatic || unsampled_mode == SimulationMode::exact) return unsampled_mode;
  const bool sampled = windows.windows.size() > 1;
  const double saved = windows.largest_share() * messages_saved_by_fast(request.parameters);
  return sampled && saved < fast_from_messages_in_windows ? SimulationMode::exact : SimulationMode::fast;
}

/// With one window at a time.
SimulationNeeds needs_of(const PredictionRequest& request, SimulationMode mode, const WindowPlan& windows) {
  SimulationNeeds needs = SimulationNeeds::of_all_panels(request.parameters, mode);
  if (windows.windows.size() == 1) return needs;
  // The last window solves the whole system; every window starts all ranks.
  core::HplParameters one_panel = request.parameters;
  one_panel.N = one_panel.NB;
  const double start_s = SimulationNeeds::of_all_panels(one_panel, SimulationMode::fast).wall_s;
  const double per_share_s =
      needs.wall_s + static_cast<double>(windows.windows.size()) * start_s / windows.simulated_share();
  needs.wall_s = windows.simulated_share() * per_share_s;
  if (windows.target > 0 && request.target_error <= 0) needs.most_wall_s = windows.largest_share() * per_share_s;
  needs.simulated_messages *= windows.simulated_share();
  return needs;
}

int window_jobs_of(const PredictionRequest& request, const WindowPlan& windows, const SimulationNeeds& one_job) {
  const auto count = static_cast<int>(windows.windows.size());
  if (count == 1 || request.only_window) return 1;
  if (request.window_jobs > 0) return std::min(request.window_jobs, count);
  const LocalMachine machine = local_machine();
  int jobs = std::min(machine.cores / request.at_a_time, count);
  if (machine.available_bytes > 0)
    jobs = static_cast<int>(std::min<double>(jobs, machine.available_bytes / request.at_a_time / one_job.memory_bytes));
  return std::max(jobs, 1);
}

// --- what cannot be run, and doubts ---

void check_grid(const PredictionRequest& request, int ranks) {
  const core::Hosts& hosts = request.cluster.hosts;
  if (ranks <= hosts.total_cores()) return;
  throw core::DomainError("P x Q",
                          std::to_string(request.parameters.P) + " x " + std::to_string(request.parameters.Q) + " = " +
                              std::to_string(ranks) + " ranks",
                          "at most " + std::to_string(hosts.total_cores()) + ", the cores of " + request.cluster.name +
                              " (" + hosts.text() + ")");
}

/// Hosts that a run uses, and the most ranks on one: hosts are filled in order.
struct RanksOfHosts {
  int hosts = 1;
  int per_host = 1;
};

RanksOfHosts ranks_of_hosts(const PredictionRequest& request) {
  const int ranks = request.parameters.P * request.parameters.Q;
  const core::Hosts& hosts = request.cluster.hosts;
  RanksOfHosts used{hosts.hosts_of(ranks), 1};
  for (int host = 0; host < used.hosts; ++host) used.per_host = std::max(used.per_host, hosts.ranks_on(host, ranks));
  return used;
}

/// Messages between hosts would cost what those inside a host do: no machine is like that.
void check_remote_costs(const PredictionRequest& request) {
  const int hosts = ranks_of_hosts(request).hosts;
  if (request.force || hosts == 1 || request.cluster.network.values().remote) return;
  throw core::DomainError(
      "network.remote", "missing", "the costs of messages between hosts: this run uses " + std::to_string(hosts),
      "measure them with a campaign on two hosts; `hplcast predict --force` takes those inside a host");
}

void check_memory_of(int host, const PredictionRequest& request, int ranks) {
  const core::Hosts& hosts = request.cluster.hosts;
  const double memory_bytes = hosts.memory_bytes_of(host);
  if (memory_bytes <= 0 || request.force) return;
  const double share = static_cast<double>(hosts.ranks_on(host, ranks)) / ranks;
  const auto N = static_cast<double>(request.parameters.N);
  const double needed_bytes = core::hpl_matrix_bytes(N) * share;
  if (needed_bytes <= memory_bytes) return;
  constexpr double gib = 1024.0 * 1024.0 * 1024.0, step = 1000;
  const double fits = std::floor(N * std::sqrt(memory_bytes / needed_bytes) / step) * step;
  throw core::DomainError("N", std::to_string(request.parameters.N),
                          "a matrix that fits a host: this one needs " + core::significant(needed_bytes / gib) +
                              " GiB of its " + core::significant(memory_bytes / gib) + " GiB" +
                              (hosts.has_kinds() ? " (" + hosts.kind_name(hosts.kind_of(host)) + ")" : ""),
                          "N is at most " + core::printed("%.0f", fits) +
                              " on these hosts; `hplcast predict --force` predicts it nevertheless");
}

/// Hosts are filled in order, so the first one of a kind holds the largest share of the matrix.
void check_memory(const PredictionRequest& request, int ranks) {
  std::set<int> kinds;
  for (int host = 0; host < request.cluster.hosts.hosts_of(ranks); ++host)
    if (kinds.insert(request.cluster.hosts.kind_of(host)).second) check_memory_of(host, request, ranks);
}

/// HPL counts the elements of a panel and of a swap in int.
void check_panel(const core::HplParameters& p) {
  // HPL takes more: it makes as many panels, and loops as often; longer numbers leave no room in its lines of results.
  constexpr int most_ahead = 1000, most_parts = 10000, most_columns = 1000000;
  if (p.DEPTH > most_ahead) throw core::DomainError("DEPTH", p.DEPTH, "at most 1000 for a simulation");
  if (p.NDIV > most_parts) throw core::DomainError("NDIV", p.NDIV, "at most 10000 for a simulation");
  if (p.NBMIN > most_columns) throw core::DomainError("NBMIN", p.NBMIN, "at most 1000000 for a simulation");
  const long long lines = p.N / p.P + p.N / p.Q + 3LL * p.NB;  // rows and columns
  const double elements = 1.0 * p.NB * static_cast<double>(lines);
  if (elements <= std::numeric_limits<int>::max()) return;
  throw core::DomainError("NB", std::to_string(p.NB),
                          "panels of less than 2^31 elements: HPL itself counts them in 32 bits, and this one has " +
                              core::printed("%.0f", elements),
                          "take a smaller NB or a larger grid");
}

void check_machine(const RunPlan& plan) {
  const PredictionRequest& request = plan.request();
  if (request.force) return;
  const fs::path folder = request.keep.empty() ? core::temporary_place() : fs::absolute(request.keep).parent_path();
  SimulationLimits limits = simulation_limits(folder);
  // Memory of the machine is for all that run together; the other limits are for each.
  limits.available_bytes /= request.at_a_time;
  limits.commit_bytes /= request.at_a_time;
  const auto missing = shortages(plan.needs(), limits);
  if (missing.empty()) return;
  std::string message = "this machine cannot simulate " + core::to_string(request.parameters) +
                        (request.at_a_time > 1 ? ", " + std::to_string(request.at_a_time) + " at a time" : "") + ":";
  for (const std::string& one : missing) message += "\n  " + one;
  message += "\n  hint: `hplcast predict --force` tries it nevertheless";
  limits.disk_bytes = 0;  // not looked at
  if (shortages(plan.needs(), limits).empty()) throw core::StorageError(message);
  throw core::InputError(message);
}

void require_platform_library(const PredictionRequest& request, const std::string& what) {
  if (platform_library(request.programs).empty())
    throw core::UsageError(
        what +
        " needs libhplcast-platform.so; expected in ../lib beside hplcast, or where " HPLCAST_VARIABLE_PLATFORM_LIBRARY
        " says");
}

void check_mode(const PredictionRequest& request) {
  if (request.mode != SimulationMode::fast) return;
  if (observes_messages(request.observation))
    throw core::UsageError(
        "the fast mode has no messages inside panel factorisations that a trace could show; use --mode exact");
  require_platform_library(request, "the fast mode");
}

/// Losses of messages that go through SMPI itself in this run.
std::vector<std::string> lost_by_sharing(const PredictionRequest& request) {
  const RanksOfHosts used = ranks_of_hosts(request);
  std::vector<std::string> lost;
  for (const platforms::SharingLoss& loss : platforms::sharing_losses(request.cluster)) {
    const bool there = loss.scope == core::Scope::local || used.hosts > 1;
    if (there && used.per_host >= loss.matters_from_ranks) lost.push_back(to_string(loss));
  }
  return lost;
}

/// Refuses windows that cannot be, and observations that they do not have. @throws core::UsageError
void check_windows(const RunPlan& plan) {
  const PredictionRequest& request = plan.request();
  const bool sampled = plan.is_sampled();
  if (request.only_window && request.keep.empty())
    throw core::UsageError("--only-window needs --keep, the folder of its result");
  if (request.only_window && !sampled)
    throw core::UsageError(
        "--only-window is for sampled predictions, and this run is not worth sampling; --windows K does it");
  if (sampled && is_observed(request.observation) && !request.only_window)
    throw core::UsageError(
        "a sampled prediction has no trace, power trace, log or phases per rank of the whole run: use --windows off, "
        "or --only-window I --keep DIR for those of one window");
  if (sampled && platform_library(request.programs).empty())
    throw core::UsageError("a sampled prediction needs libhplcast-platform.so: use --windows off");
}

void check_energy(const PredictionRequest& request) {
  if (!request.observation.energy) return;
  require_power(request.cluster);
  constexpr double most_bins = 1e7;  // as in the runtime
  const double peak_flop_per_s = 1e9 * dgemm_peak_gflops(request.cluster, request.parameters.P * request.parameters.Q);
  const double least_s = core::hpl_flop(static_cast<double>(request.parameters.N)) / peak_flop_per_s;
  if (peak_flop_per_s > 0 && least_s > most_bins * request.observation.bin_s)
    throw core::DomainError("bin", core::shortest(request.observation.bin_s) + " s",
                            "at most 10000000 bins in a run of more than " + core::shortest(least_s) + " s",
                            "take a longer --bin");
  if (!request.observation.paje.empty())
    throw core::UsageError("--energy beside --paje: with SMPI's own messages nobody knows when ranks wait");
  require_platform_library(request, "--energy");
}

/// Where frequencies change while the run goes on, it must be known when each kernel is called.
void check_changes(const RunPlan& plan) {
  const PredictionRequest& request = plan.request();
  if (!core::frequency_changes(request.cluster.power)) return;
  const std::string what = "frequencies of " + request.cluster.name + " change while the run goes on: ";
  if (plan.mode() == SimulationMode::fast)
    throw core::UsageError(what +
                           "the fast mode does not know when the kernels of a panel are called; use --mode exact");
  if (plan.is_sampled())
    throw core::UsageError(what +
                           "windows stand for the panels between them only if those run alike; use --windows off");
  if (!request.observation.paje.empty())
    throw core::UsageError(what + "not with --paje, whose messages are SMPI's own");
  require_platform_library(request, what + "this");
}

/// platform.xml lets flows share links by their factors, which no machine does.
void check_platform(const PredictionRequest& request) {
  if (request.force || !platform_library(request.programs).empty()) return;
  const std::vector<std::string> lost = lost_by_sharing(request);
  if (lost.empty()) return;
  std::string message = "without libhplcast-platform.so this network cannot be predicted with several ranks per host:";
  for (const std::string& one : lost) message += "\n  " + one;
  throw core::InputError(message +
                         "\n  hint: it is expected in ../lib beside hplcast, or where HPLCAST_PLATFORM_LIBRARY says; "
                         "`hplcast predict --force` predicts with platform.xml nevertheless");
}

/// Gaps and contradictions of the model in links that messages of this run share.
std::vector<std::string> network_warnings(const PredictionRequest& request) {
  const core::NetworkModel& network = request.cluster.network;
  const RanksOfHosts used = ranks_of_hosts(request);
  const bool between_hosts = used.hosts > 1 && network.values().remote.has_value();
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& subject, const std::string& detail) {
    warnings.push_back("the network model of " + request.cluster.name + ", " + subject + ": " + detail);
  };
  const auto unknown = core::capacity_unknown(network, core::Scope::remote);
  if (unknown && between_hosts && used.per_host > 1)
    warn(unknown->subject, std::to_string(used.per_host) + " ranks share the card of a host, but " + unknown->detail);
  // Where that between hosts was measured, that inside a host could have been: one of both is a mistake, or too few
  // cores. Two messages at once inside a host need three ranks.
  const auto unknown_local = core::capacity_unknown(network, core::Scope::local);
  const auto& remote_capacity = network.scope(core::Scope::remote).capacity;
  const bool only_remote_measured =
      network.values().remote && remote_capacity && remote_capacity->origin == core::LinkCapacity::Origin::measured;
  if (unknown_local && only_remote_measured && used.per_host > 2) warn(unknown_local->subject, unknown_local->detail);
  for (const core::QualityFlag& doubt : core::contradictions(network))
    if (doubt.subject == core::to_string(core::Scope::local) || between_hosts) warn(doubt.subject, doubt.detail);
  return warnings;
}

std::vector<std::string> idle_kinds(const PredictionRequest& request) {
  const core::Hosts& hosts = request.cluster.hosts;
  const int ranks = request.parameters.P * request.parameters.Q, used = hosts.hosts_of(ranks);
  std::map<int, int> idle;  // hosts by kind
  for (int host = used; hosts.has_kinds() && host < hosts.count(); ++host) ++idle[hosts.kind_of(host)];
  for (int host = 0; host < used; ++host) idle.erase(hosts.kind_of(host));
  std::vector<std::string> warnings;
  for (const auto& [kind, count] : idle)
    warnings.push_back("the hosts of kind " + hosts.kind_name(kind) + " (" + std::to_string(count) +
                       ") stay idle: hosts are filled in order, and P x Q = " + std::to_string(ranks) +
                       " ranks end before them");
  return warnings;
}

/// Says that most ranks have nothing to do; "" where they have.
std::string idle_ranks(const core::HplParameters& p) {
  const long long blocks = (p.N + p.NB - 1) / p.NB, ranks = static_cast<long long>(p.P) * p.Q;
  const long long busy = std::min<long long>(p.P, blocks) * std::min<long long>(p.Q, blocks);
  if (2 * busy >= ranks) return "";
  return core::printed(
      "%lld of %lld ranks have no part of the matrix: N=%lld is %lld blocks of NB=%d, on a grid of %d x %d",
      ranks - busy, ranks, p.N, blocks, p.NB, p.P, p.Q);
}

/// Says that kernels are slower on this matrix than on others, and how HPL makes another; "" where they are not.
std::string aliased_warning(const PredictionRequest& request) {
  const long dimension = core::most_aliased_dimension(request.parameters);
  double most = 1;
  std::string slowest;
  for (const auto& [kernel, model] : request.cluster.kernels) {
    const double ratio = core::aliased_ratio(request.cluster, kernel, dimension);
    if (ratio > most) slowest = kernel;
    most = std::max(most, ratio);
  }
  if (slowest.empty()) return "";
  core::HplParameters other = request.parameters;
  constexpr int line = 8, most_doubles = 1024;
  do {
    other.ALIGN = (other.ALIGN / line + 1) * line;
  } while (other.ALIGN < most_doubles &&
           core::aliased_bytes <= core::columns_apart_bytes(core::most_aliased_dimension(other)));
  return core::printed(
      "columns of a rank's matrix are a multiple of %ld bytes apart (leading dimension %ld), where "
      "lines share sets of the caches: %s takes %.2f times as long; ALIGN=%d avoids it",
      core::columns_apart_bytes(dimension), dimension, slowest.c_str(), most, other.ALIGN);
}

std::vector<std::string> doubts(const PredictionRequest& request) {
  std::vector<std::string> found = network_warnings(request);
  for (const std::string& warning : {idle_ranks(request.parameters), aliased_warning(request)})
    if (!warning.empty()) found.push_back(warning);
  for (std::string& warning : idle_kinds(request)) found.push_back(std::move(warning));
  for (const core::QualityFlag& flag : core::implausible_in(request.cluster, request.parameters))
    found.push_back("the model " + request.cluster.name + ", " + flag.subject + ": " + flag.detail);
  if (request.observation.energy)
    for (std::string& warning : power_warnings(request.cluster)) found.push_back(std::move(warning));
  if (!request.observation.paje.empty()) {
    for (const std::string& loss : lost_by_sharing(request))
      found.push_back("with --paje messages go through SMPI, which shares links in another way: " + loss);
  }
  if (platform_library(request.programs).empty()) {
    for (const std::string& loss : platforms::platform_xml_losses(request.cluster))
      found.push_back("without libhplcast-platform.so the simulation loses a part of cluster.json: " + loss);
  }
  return found;
}

}  // namespace

RunPlan::RunPlan(PredictionRequest request)
    : request_(std::make_shared<const PredictionRequest>(std::move(request))),
      seed_(request_->seed),
      unsampled_mode_(mode_of_all_panels(*request_)),
      windows_(windows_of(*request_, unsampled_mode_)),
      mode_(mode_of(*request_, unsampled_mode_, windows_)),
      needs_(needs_of(*request_, mode_, windows_)),
      window_jobs_(window_jobs_of(*request_, windows_, needs_)) {
  needs_.wall_s /= window_jobs_;
  needs_.most_wall_s /= window_jobs_;
  needs_.memory_bytes *= window_jobs_;
  BusyRanks busy = with_busy_ranks(request_->cluster, ranks_of_hosts(*request_).per_host);
  if (busy.cluster) simulated_ = std::make_shared<const core::ClusterModel>(*std::move(busy.cluster));
  if (!busy.text.empty()) warnings_.push_back(std::move(busy.text));
}

RunPlan RunPlan::of_window(const PanelWindow& window) const {
  RunPlan plan = *this;
  plan.window_ = window;
  if (window.counts_from == 0) return plan;  // the warm-up of another may begin with the run, too
  core::RandomStream random({seed_, core::stream_window, static_cast<std::uint32_t>(window.first), 0, 0});
  plan.seed_ = random.below(std::uint64_t{1} << 63);
  return plan;
}

MemorySettings RunPlan::memory() const {
  return MemorySettings::make(needs_, local_machine().max_map_count);
}

RunPlan resolve_unchecked(PredictionRequest request) {
  return RunPlan(std::move(request));
}

RunPlan resolve(PredictionRequest request) {
  request.parameters.validate();
  const int ranks = request.parameters.P * request.parameters.Q;
  check_grid(request, ranks);
  check_remote_costs(request);
  check_panel(request.parameters);
  check_memory(request, ranks);
  RunPlan plan = resolve_unchecked(std::move(request));
  check_machine(plan);
  check_mode(plan.request());
  check_windows(plan);
  check_energy(plan.request());
  check_changes(plan);
  check_platform(plan.request());
  for (std::string& doubt : doubts(plan.request())) plan.warnings_.push_back(std::move(doubt));
  return plan;
}

}  // namespace hplcast::study
