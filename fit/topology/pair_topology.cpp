#include "hplcast/fit/pair_topology.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>

#include "fit/network/network_steps.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::fit {

namespace {

using Matrix = std::vector<std::vector<double>>;
constexpr double robust_sds = 5, sd_per_mad = 1.4826, least_latency_share = 0.02, least_bandwidth_share = 0.005;

/// Values of unordered pairs; the mean over both directions and repetitions.
struct Pairs {
  std::vector<std::string> hosts;
  Matrix latency, log_bandwidth;  ///< symmetric; NaN: not measured
  bool has_bandwidth = true;      ///< of all pairs
  std::size_t count() const { return hosts.size(); }
};

Pairs pairs_of(const std::vector<PairMeasurement>& measured) {
  std::set<std::string, core::ByNumber> names;
  for (const PairMeasurement& one : measured) names.insert({one.source, one.destination});
  Pairs pairs;
  pairs.hosts.assign(names.begin(), names.end());
  const std::size_t n = pairs.count();
  if (n < 3) throw core::InputError("pairs of " + std::to_string(n) + " hosts; expected three hosts or more");
  constexpr std::size_t most_hosts = 2048;
  if (n > most_hosts) throw core::InputError("pairs of " + std::to_string(n) + " hosts; expected at most 2048");
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < n; ++i) index[pairs.hosts[i]] = i;
  Matrix latency(n, std::vector<double>(n, 0)), log_bandwidth = latency, latencies = latency, bandwidths = latency;
  for (const PairMeasurement& one : measured) {
    const std::size_t i = index[one.source], j = index[one.destination];
    if (i == j) continue;
    for (const auto& [a, b] : {std::pair(i, j), std::pair(j, i)}) {
      if (one.latency_s > 0) latency[a][b] += one.latency_s, ++latencies[a][b];
      if (one.bandwidth_bytes_per_s > 0) log_bandwidth[a][b] += std::log(one.bandwidth_bytes_per_s), ++bandwidths[a][b];
    }
  }
  std::size_t lacking = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      latency[i][j] /= latencies[i][j];
      log_bandwidth[i][j] /= bandwidths[i][j];
      lacking += i < j && !std::isfinite(latency[i][j]) ? 1 : 0;
      if (i < j && !std::isfinite(log_bandwidth[i][j])) pairs.has_bandwidth = false;
    }
  if (lacking > 0)
    throw core::InputError(std::to_string(lacking) + " of " + std::to_string(n * (n - 1) / 2) +
                           " pairs of hosts have no latency; expected all of them");
  pairs.latency = std::move(latency);
  pairs.log_bandwidth = std::move(log_bandwidth);
  return pairs;
}

/// Latencies less those to the nearest of both hosts: a slow host is no farther from its group than others are.
Matrix beside_nearest(Matrix latency) {
  std::vector<double> nearest(latency.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < latency.size(); ++i)
    for (std::size_t j = 0; j < latency.size(); ++j)
      if (j != i) nearest[i] = std::min(nearest[i], latency[i][j]);
  for (std::size_t i = 0; i < latency.size(); ++i)
    for (std::size_t j = 0; j < latency.size(); ++j) latency[i][j] -= nearest[i] + nearest[j];
  return latency;
}

/// The group of each host by average linkage, for each number of groups that are left.
std::vector<std::vector<std::size_t>> linked(const Matrix& distance) {
  const std::size_t n = distance.size();
  std::vector<std::vector<std::size_t>> members(n);
  for (std::size_t i = 0; i < n; ++i) members[i] = {i};
  Matrix between = distance;
  std::vector<std::vector<std::size_t>> levels(n + 1);  // group of each host, by number of groups
  std::vector<bool> alive(n, true);
  for (std::size_t groups = n; groups >= 1; --groups) {
    std::vector<std::size_t>& of = levels[groups];
    of.assign(n, 0);
    std::size_t number = 0;
    for (std::size_t g = 0; g < n; ++g) {
      if (!alive[g]) continue;
      for (const std::size_t host : members[g]) of[host] = number;
      ++number;
    }
    if (groups == 1) break;
    std::size_t a = 0, b = 0;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; alive[i] && j < n; ++j)
        if (alive[j] && between[i][j] < nearest) nearest = between[i][j], a = i, b = j;
    const auto of_a = static_cast<double>(members[a].size()), of_b = static_cast<double>(members[b].size());
    for (std::size_t k = 0; k < n; ++k)
      between[a][k] = between[k][a] = (of_a * between[a][k] + of_b * between[b][k]) / (of_a + of_b);
    members[a].insert(members[a].end(), members[b].begin(), members[b].end());
    alive[b] = false;
  }
  return levels;
}

/// The part that a partition and single hosts explain of the values of pairs: medians of blocks, and what a host adds
/// to all of its pairs.
struct Explained {
  Matrix blocks;
  std::vector<double> hosts;
  Matrix residuals;
};

Explained explained(const Matrix& values, const std::vector<std::size_t>& group, std::size_t groups) {
  const std::size_t n = values.size();
  Explained result{Matrix(groups, std::vector<double>(groups, 0)), std::vector<double>(n, 0), values};
  constexpr int rounds = 4;  // of medians in turn, as Tukey's median polish
  for (int round = 0; round < rounds; ++round) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> by_block;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j)
        by_block[std::minmax(group[i], group[j])].push_back(values[i][j] - result.hosts[i] - result.hosts[j]);
    for (const auto& [block, list] : by_block)
      result.blocks[block.first][block.second] = result.blocks[block.second][block.first] = core::median(list);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> left;
      for (std::size_t j = 0; j < n; ++j)
        if (j != i) left.push_back(values[i][j] - result.blocks[group[i]][group[j]] - result.hosts[j]);
      result.hosts[i] = core::median(left);
    }
    const double middle = core::median(result.hosts);
    for (double& host : result.hosts) host -= middle;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      result.residuals[i][j] =
          i == j ? 0 : values[i][j] - result.blocks[group[i]][group[j]] - result.hosts[i] - result.hosts[j];
  return result;
}

/// Half of the smallest step between two values: clocks and print-outs round.
double resolution(const Matrix& values) {
  std::set<double> sorted;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) sorted.insert(values[i][j]);
  double step = std::numeric_limits<double>::infinity();
  for (auto at = sorted.begin(); at != sorted.end() && std::next(at) != sorted.end(); ++at)
    if (const double gap = *std::next(at) - *at; gap > 1e-6 * *at) step = std::min(step, gap);
  return std::isfinite(step) ? step / 2 : 1e-3 * std::abs(values[1][0]);
}

double bic_of(const Explained& fit, std::size_t groups, double rounding) {
  const std::size_t n = fit.hosts.size();
  const double pairs = static_cast<double>(n) * static_cast<double>(n - 1) / 2;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) squares += fit.residuals[i][j] * fit.residuals[i][j];
  const double blocks = static_cast<double>(groups * (groups + 1)) / 2;
  return pairs * std::log(squares / pairs + rounding * rounding) + blocks * std::log(pairs) +
         2 * static_cast<double>(n) * std::log(static_cast<double>(groups));
}

double robust_sd(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return sd_per_mad * core::median(values);
}

std::vector<double> below_diagonal(const Matrix& values) {
  std::vector<double> list;
  for (std::size_t i = 0; i < values.size(); ++i)
    list.insert(list.end(), values[i].begin(), values[i].begin() + static_cast<std::ptrdiff_t>(i));
  return list;
}

void add_slow(const Pairs& pairs, const Explained& latency, const Explained* bandwidth, double rounding,
              PairTopology& result) {
  const std::size_t n = pairs.count();
  const double typical = core::median(below_diagonal(pairs.latency));
  const double host_limit =
      std::max(robust_sds * std::max(robust_sd(latency.hosts), rounding), least_latency_share * typical);
  const double pair_limit = std::max(robust_sds * std::max(robust_sd(below_diagonal(latency.residuals)), rounding),
                                     least_latency_share * typical);
  double host_share = 0, pair_share = 0;
  if (bandwidth != nullptr) {
    host_share = std::max(robust_sds * robust_sd(bandwidth->hosts), least_bandwidth_share);
    pair_share = std::max(robust_sds * robust_sd(below_diagonal(bandwidth->residuals)), least_bandwidth_share);
  }
  const auto slower = [&](double log_share, double limit) { return bandwidth != nullptr && log_share < -limit; };
  for (std::size_t i = 0; i < n; ++i) {
    const double log_share = bandwidth != nullptr ? bandwidth->hosts[i] : 0;
    if (latency.hosts[i] > host_limit || slower(log_share, host_share))
      result.slow_hosts.push_back({pairs.hosts[i], latency.hosts[i], std::exp(log_share)});
    for (std::size_t j = 0; j < i; ++j) {
      const double of_pair = bandwidth != nullptr ? bandwidth->residuals[i][j] : 0;
      if (latency.residuals[i][j] > pair_limit || slower(of_pair, pair_share))
        result.slow_pairs.push_back({pairs.hosts[j], pairs.hosts[i], latency.residuals[i][j], std::exp(of_pair)});
    }
  }
}

/// Sums over the values of some pairs; of none all is 0.
struct PairSums {
  double sum = 0, squares = 0, count = 0;
  double mean() const { return count > 0 ? sum / count : 0; }
  double error_square() const { return count > 0 ? std::max(0.0, squares / count - mean() * mean()) / count : 0; }
};

/// Pairs inside groups, and those between them, without what slow hosts add.
std::array<PairSums, 2> inside_and_between(const Matrix& values, const Explained& fit,
                                           const std::vector<std::size_t>& group) {
  std::array<PairSums, 2> sums;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      PairSums& one = sums[group[i] == group[j] ? 0 : 1];
      const double value = values[i][j] - fit.hosts[i] - fit.hosts[j];
      one.sum += value;
      one.squares += value * value;
      ++one.count;
    }
  return sums;
}

/// Round trips of `hplcast-measure-mpi`.
std::vector<PairMeasurement> pairs_of_messages(core::CsvReader& csv) {
  constexpr double most_short_bytes = 1024, least_long_bytes = 65536;
  struct RoundTrips {
    std::vector<double> short_s;
    std::map<double, std::vector<double>> long_s;  ///< by size
  };
  const std::size_t operation = csv.column("operation"), rank = csv.column("rank"), peer_rank = csv.column("peer_rank"),
                    host = csv.column("host"), peer = csv.column("peer"), size = csv.column("size_bytes"),
                    duration = csv.column("duration_s"), error = csv.find_column("error");
  std::map<std::pair<std::string, std::string>, RoundTrips> of_pairs;
  while (csv.next()) {
    if (csv.text(operation) != "pingpong" || csv.has(error)) continue;
    const bool local = csv.text(host) == csv.text(peer);
    const auto name = [&](std::size_t of, std::size_t with_rank) {
      return std::string(csv.text(of)) + (local ? ":" + std::string(csv.text(with_rank)) : "");
    };
    RoundTrips& trips = of_pairs[{name(host, rank), name(peer, peer_rank)}];
    if (const double bytes = csv.non_negative(size); bytes <= most_short_bytes)
      trips.short_s.push_back(csv.positive(duration));
    else if (bytes >= least_long_bytes)
      trips.long_s[bytes].push_back(csv.positive(duration));
  }
  std::vector<PairMeasurement> pairs;
  for (const auto& [names, trips] : of_pairs) {
    PairMeasurement pair{names.first, names.second};
    if (!trips.short_s.empty()) pair.latency_s = core::median(trips.short_s) / 2;
    if (!trips.long_s.empty())
      pair.bandwidth_bytes_per_s = 2 * trips.long_s.rbegin()->first / core::median(trips.long_s.rbegin()->second);
    pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace

std::vector<PairMeasurement> read_pairs(std::istream& in, const std::string& name) {
  const std::string text = core::read_text(in, name, "expected latencies between pairs of hosts");
  std::vector<PairMeasurement> pairs;
  const auto require = [&](const PairMeasurement& pair, std::size_t line) {
    constexpr double most_latency_s = 1, most_bandwidth = 1e13;
    if (!(pair.latency_s >= 0) || !(pair.bandwidth_bytes_per_s >= 0) ||
        !(pair.latency_s + pair.bandwidth_bytes_per_s > 0))
      throw core::ParseError({name, line, ""}, "a pair without a latency or bandwidth above 0");
    if (pair.latency_s > most_latency_s || pair.bandwidth_bytes_per_s > most_bandwidth)
      throw core::ParseError({name, line, ""},
                             core::printed("a pair of %g s and %g B/s; expected at most 1 s and 1e13 B/s",
                                           pair.latency_s, pair.bandwidth_bytes_per_s),
                             "latencies are in s and bandwidths in B/s; only nxnlatbw has us and MB/s");
    pairs.push_back(pair);
  };
  const std::string header = core::csv_header(text);
  if (header.empty()) throw core::ParseError({name, 0, ""}, "it is empty; expected latencies between pairs of hosts");
  if (header.find("peer_rank") != std::string::npos) {
    core::CsvReader csv(core::TextStream(text), name);
    for (const PairMeasurement& pair : pairs_of_messages(csv)) require(pair, 0);
    if (pairs.empty()) throw core::ParseError({name, 0, ""}, "no round trips (operation pingpong) of pairs");
    return pairs;
  }
  if (header.find("latency_s") != std::string::npos) {
    core::CsvReader csv(core::TextStream(text), name);
    const std::size_t source = csv.column("source"), destination = csv.column("destination"),
                      latency = csv.column("latency_s"), bandwidth = csv.find_column("bandwidth_bytes_per_s");
    while (csv.next())
      require({std::string(csv.text(source)), std::string(csv.text(destination)), csv.number(latency),
               csv.has(bandwidth) ? csv.number(bandwidth) : 0},
              csv.line());
    return pairs;
  }
  std::size_t number = 0;
  for (const std::string& line : core::split(text, '\n')) {  // of nxnlatbw, without a fixed place for its header
    ++number;
    char source[65], destination[65], more = 0;  // nothing may be behind: 1,5,12000 is not 1 and 5
    double latency_us = 0, mega = 0;
    if (line.find("src") != std::string::npos || line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (std::sscanf(line.c_str(), " %64[^, ] , %64[^, ] , %lf , %lf %c", source, destination, &latency_us, &mega,
                    &more) != 4)
      throw core::ParseError({name, number, ""},
                             "found `" + line.substr(0, 60) +
                                 "`; expected source,destination,latency in us,MB/s (nxnlatbw), or a "
                                 "CSV with columns source, destination, latency_s");
    require({source, destination, 1e-6 * latency_us, 1e6 * mega}, number);
  }
  return pairs;
}

PairTopology fit_pair_topology(const std::vector<PairMeasurement>& measured) {
  const Pairs pairs = pairs_of(measured);
  const std::size_t n = pairs.count(), most = std::min<std::size_t>(n / 2, 32);
  const double rounding = resolution(pairs.latency);
  std::vector<std::size_t> best(n, 0);
  Explained latency = explained(pairs.latency, best, 1);
  PairTopology result;
  result.bic = result.bic_of_one = bic_of(latency, 1, rounding);
  const auto try_levels = [&](const auto& levels) {
    for (std::size_t count = 2; count <= most; ++count) {
      const Explained fit = explained(pairs.latency, levels[count], count);
      const double bic = bic_of(fit, count, rounding);
      if (bic >= result.bic) continue;
      result.bic = bic;
      best = levels[count];
      latency = fit;
    }
  };
  try_levels(linked(pairs.latency));
  // A group of one host is perhaps a slow host.
  if (std::any_of(best.begin(), best.end(), [&](auto g) { return std::count(best.begin(), best.end(), g) == 1; }))
    try_levels(linked(beside_nearest(pairs.latency)));
  const std::size_t groups = latency.blocks.size();
  std::vector<std::size_t> order(groups);
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](std::size_t g) { return std::count(best.begin(), best.end(), g); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::optional<Explained> bandwidth;
  if (pairs.has_bandwidth) bandwidth = explained(pairs.log_bandwidth, best, groups);
  result.groups.resize(groups);
  result.latency_s.assign(groups, std::vector<double>(groups, 0));
  if (bandwidth) result.bandwidth = result.latency_s;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t i = 0; i < n; ++i)
      if (best[i] == order[g]) result.groups[g].push_back(pairs.hosts[i]);
    for (std::size_t h = 0; h < groups; ++h) {
      result.latency_s[g][h] = latency.blocks[order[g]][order[h]];
      if (bandwidth) result.bandwidth[g][h] = std::exp(bandwidth->blocks[order[g]][order[h]]);
    }
  }
  add_slow(pairs, latency, bandwidth ? &*bandwidth : nullptr, rounding, result);
  const auto [inside, between] = inside_and_between(pairs.latency, latency, best);
  result.within_s = inside.mean();
  result.between_s = between.mean();
  result.difference_error_s = std::sqrt(inside.error_square() + between.error_square());
  if (!bandwidth || groups == 1) return result;
  const auto logs = inside_and_between(pairs.log_bandwidth, *bandwidth, best);
  if (logs[0].count > 0) result.bandwidth_share = std::exp(logs[1].mean() - logs[0].mean());
  return result;
}

core::ClusterModel with_groups(core::ClusterModel cluster, const PairTopology& found, double apart) {
  std::map<std::string, unsigned> group;
  for (std::size_t g = 0; g < found.groups.size(); ++g)
    for (const std::string& host : found.groups[g]) group[host] = static_cast<unsigned>(g);
  core::HostGroups groups;
  std::vector<std::string> unknown;
  for (const std::string& host : cluster.hosts.names()) {
    if (group.count(host) == 0)
      unknown.push_back(host);
    else
      groups.groups.push_back(group[host]);
  }
  if (!unknown.empty())
    throw core::InputError("no messages of " + std::to_string(unknown.size()) + " of the " +
                           std::to_string(cluster.hosts.count()) + " hosts of cluster " + cluster.name + ": " +
                           unknown.front() + (unknown.size() > 1 ? " ..." : "") + "; measured were those of " +
                           found.groups.front().front() + " ...; expected the hosts of the cluster");
  core::NetworkModel::Values network = cluster.network.values();
  const bool one_switch = std::holds_alternative<core::SingleSwitch>(network.topology);
  core::require(one_switch || std::holds_alternative<core::HostGroups>(network.topology), "topology",
                core::kind_of(network.topology), "single_switch, for groups of hosts that were found",
                "`hplcast transform --single-switch yes` makes it one");
  groups.extra_latency_s = std::max(0.0, found.between_s - found.within_s);
  // A bandwidth that includes the latency, of messages of unknown length, says no more.
  if (found.bandwidth_share < 1 - least_bandwidth_share) groups.bandwidth_share = found.bandwidth_share;
  if (std::set<unsigned>(groups.groups.begin(), groups.groups.end()).size() < 2 ||
      (groups.extra_latency_s == 0 && groups.bandwidth_share == 1)) {
    if (!one_switch) network.topology = core::SingleSwitch{};
  } else {
    if (network.remote) detail::shorten_transfers(*network.remote, apart * groups.extra_latency_s, 1);
    network.topology = std::move(groups);
  }
  cluster.network = core::NetworkModel::make(std::move(network));
  return cluster;
}

void write_pair_topology(std::ostream& out, const PairTopology& topology) {
  nlohmann::ordered_json json = {{"schema_version", 1}};
  json.update(HPLCAST_JSON(topology, groups, latency_s));
  json["bandwidth_bytes_per_s"] = topology.bandwidth;
  json.update(HPLCAST_JSON(topology, within_s, between_s, difference_error_s, bandwidth_share));
  json["bic_of_one_group"] = topology.bic_of_one;
  json["bic"] = topology.bic;
  json["slow_hosts"] = nlohmann::ordered_json::array();
  json["slow_pairs"] = nlohmann::ordered_json::array();
  for (const SlowHost& one : topology.slow_hosts)
    json["slow_hosts"].push_back(HPLCAST_JSON(one, host, latency_s, bandwidth_share));
  for (const SlowPair& one : topology.slow_pairs)
    json["slow_pairs"].push_back(
        {{"hosts", {one.first, one.second}}, {"latency_s", one.latency_s}, {"bandwidth_share", one.bandwidth_share}});
  out << core::json_text(json, 2) << '\n';
}

}  // namespace hplcast::fit
