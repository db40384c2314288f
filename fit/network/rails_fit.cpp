#include <algorithm>
#include <cmath>
#include <map>

#include "fit/network/network_steps.hpp"
#include "fit/stats/robust_statistics.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/network_fit.hpp"

namespace hplcast::fit {

namespace {

using Couple = std::pair<int, int>;  // of CPUs

constexpr double difference_that_matters = 0.02;  ///< of latencies and rates: less is no difference
constexpr double beyond_chance = 3;               ///< standard errors: neither is less than that
constexpr double fills_below = 0.9;               ///< of what so many pairs would get that do not disturb each other

/// With its relative standard error.
struct Rate {
  double value = 0, error = 0;
};

/// Medians of what one pair and many pairs of CPUs get.
struct CpuTimes {
  int cpus = 0;
  std::map<Couple, double> latency_s;  // of one pair: both ways
  std::map<Couple, Rate> rate;
  double latency_error_s = 0;    // standard error of the medians, the largest
  std::map<Couple, Rate> total;  // of many pairs at once; c, c: of one CPU
  long pairs = 0;                // of one CPU, then
};

double standard_error(std::vector<double> values) {
  const detail::RobustEstimate median = detail::median_interval(std::move(values));
  return (median.high - median.low) / (2 * 1.96);
}

void add_single_pairs(const std::vector<CpuMessage>& rows, CpuTimes& times) {
  std::map<Couple, std::map<double, std::vector<double>>> trips;  // by size
  for (const CpuMessage& row : rows) {
    if (row.operation != "pingpong") continue;
    trips[{row.cpu, row.peer_cpu}][row.size_bytes].push_back(row.duration_s);
    times.cpus = std::max({times.cpus, row.cpu + 1, row.peer_cpu + 1});
  }
  for (const auto& [couple, by_size] : trips) {
    if (by_size.size() < 2) continue;
    const auto& [size, longest] = *by_size.rbegin();
    const double latency_s = core::median(by_size.begin()->second) / 2,
                 duration_s = core::median(longest) / 2 - latency_s;
    const double latency_error_s = standard_error(by_size.begin()->second) / 2;
    times.latency_s[couple] = latency_s;
    times.rate[couple] = {size / duration_s, std::hypot(standard_error(longest) / 2, latency_error_s) / duration_s};
    times.latency_error_s = std::max(times.latency_error_s, latency_error_s);
  }
}

/// Pairs of a turn begin at one moment. Each CPU takes as long as its slowest one: where cards differ, one is done
/// before the other.
void add_many_pairs(const std::vector<CpuMessage>& rows, CpuTimes& times) {
  struct Sent {
    long pairs = 0;
    double bytes = 0, duration_s = 0;
  };
  std::map<std::pair<long, Couple>, std::map<int, Sent>> turns;  // by CPU
  for (const CpuMessage& row : rows) {
    if (row.operation != "one_way") continue;
    Sent& sent = turns[{row.order, {std::min(row.cpu, row.beside), std::max(row.cpu, row.beside)}}][row.cpu];
    sent = {sent.pairs + 1, sent.bytes + row.size_bytes, std::max(sent.duration_s, row.duration_s)};
  }
  std::map<Couple, std::vector<double>> rates;
  for (const auto& [key, turn] : turns) {
    double rate = 0;
    for (const auto& [cpu, sent] : turn) rate += sent.bytes / sent.duration_s;
    rates[key.second].push_back(rate);
    if (turn.size() == 1) times.pairs = std::max(times.pairs, turn.begin()->second.pairs);
  }
  for (const auto& [couple, list] : rates) {
    const double total = core::median(list);
    times.total[couple] = {total, standard_error(list) / total};
  }
}

bool is_complete(const CpuTimes& times) {
  for (int cpu = 0; cpu < times.cpus; ++cpu)
    for (int other = 0; other < times.cpus; ++other) {
      const bool has_total = times.total.count({std::min(cpu, other), std::max(cpu, other)}) > 0;
      const auto rate = times.rate.find({cpu, other});
      if (!has_total || rate == times.rate.end() || !(rate->second.value > 0)) return false;
    }
  return times.cpus > 0;
}

/// By which messages of each CPU are later than those of the nearest, per end.
std::vector<double> distances_s(const CpuTimes& times) {
  std::vector<double> means(static_cast<std::size_t>(times.cpus));
  for (const auto& [couple, latency_s] : times.latency_s)
    for (const int cpu : {couple.first, couple.second})
      means[static_cast<std::size_t>(cpu)] += latency_s / (2 * times.cpus);
  const double least_s = *std::min_element(means.begin(), means.end());
  const double matters_s = std::max(difference_that_matters * least_s, beyond_chance * times.latency_error_s);
  for (double& mean : means) mean = mean - least_s > matters_s ? mean - least_s : 0;
  return means;
}

/// 1 where the two are alike, as far as their scatter tells.
double share(const Rate& one, const Rate& reference) {
  const double ratio = one.value / reference.value, by_chance = beyond_chance * std::hypot(one.error, reference.error);
  return std::abs(ratio - 1) < std::max(difference_that_matters, by_chance) ? 1 : ratio;
}

bool share_a_card(const CpuTimes& times, int cpu, int other) {
  const double one = times.total.at({cpu, cpu}).value, two = times.total.at({other, other}).value;
  return times.total.at({cpu, other}).value <= (std::max(one, two) + one + two) / 2;
}

/// Whether pairs of this CPU alone get less than they would without each other.
bool fills_card(const CpuTimes& times, int cpu) {
  const Couple own{cpu, cpu};
  return times.total.at(own).value < fills_below * static_cast<double>(times.pairs) * times.rate.at(own).value;
}

/// Number of the card of each CPU, in the order of their first CPUs.
std::vector<int> cards_of(const CpuTimes& times) {
  std::vector<int> cards;
  int count = 0;
  for (int cpu = 0; cpu < times.cpus; ++cpu) {
    int card = count;
    for (int other = 0; other < cpu && card == count; ++other)
      if (share_a_card(times, other, cpu)) card = cards[static_cast<std::size_t>(other)];
    cards.push_back(card);
    count = std::max(count, card + 1);
  }
  return cards;
}

/// As far as it is known.
struct Card {
  Rate total, rate;
  double distance_s = 0;
};

Card card_of(const CpuTimes& times, const std::vector<int>& cards, const std::vector<double>& distances, int card) {
  const auto larger = [](const Rate& one, const Rate& other) { return one.value < other.value ? other : one; };
  Card found{{}, {}, *std::max_element(distances.begin(), distances.end())};
  for (const auto& [couple, total] : times.total) {
    const auto first = static_cast<std::size_t>(couple.first);
    if (cards[first] != card || cards[static_cast<std::size_t>(couple.second)] != card) continue;
    found.total = larger(found.total, total);
    found.rate = larger(found.rate, times.rate.at(couple));
    found.distance_s = std::min(found.distance_s, distances[first]);
  }
  return found;
}

}  // namespace

void read_cpu_messages(std::istream& in, const std::string& name, const std::vector<int>& cpu_of_rank,
                       std::vector<CpuMessage>& rows) {
  core::CsvReader csv(in, name);
  const std::size_t operation = csv.column("operation"), order = csv.column("order"), rank = csv.column("rank"),
                    peer_rank = csv.column("peer_rank"), size = csv.column("size_bytes"),
                    duration = csv.column("duration_s"), error = csv.find_column("error");
  const auto cpu = [&](std::size_t column) {
    const long long number = csv.integer(column);
    if (number < 0 || number >= static_cast<long long>(cpu_of_rank.size()))
      throw core::ParseError(csv.at(column), "found rank " + std::to_string(number) + "; expected 0 to " +
                                                 std::to_string(static_cast<long long>(cpu_of_rank.size()) - 1) +
                                                 ", those of the campaign");
    return cpu_of_rank[static_cast<std::size_t>(number)];
  };
  const int cpus = cpu_of_rank.empty() ? 0 : 1 + *std::max_element(cpu_of_rank.begin(), cpu_of_rank.end());
  std::map<std::pair<long long, long long>, int> turns;  // until now, by row of the design and rank
  while (csv.next()) {
    const int own = cpu(rank);
    int beside = turns[{csv.integer(order), csv.integer(rank)}]++;
    beside = beside >= cpus - 1 ? own : beside < own ? beside : beside + 1;
    if (csv.has(error)) continue;
    rows.push_back({own, cpu(peer_rank), std::string(csv.text(operation)), csv.integer(order), beside,
                    csv.non_negative(size), csv.positive(duration)});
  }
}

RailsFit fit_rails(const std::vector<CpuMessage>& rows) {
  RailsFit fit;
  CpuTimes times;
  add_single_pairs(rows, times);
  add_many_pairs(rows, times);
  if (!is_complete(times)) {
    fit.text = "not told: messages between each two CPUs, of two sizes and of many pairs at once, are needed";
    return fit;
  }
  std::vector<int> cards = cards_of(times);
  const bool several = *std::max_element(cards.begin(), cards.end()) > 0;
  std::string doubt;
  for (int cpu = 0; cpu < times.cpus && several && doubt.empty(); ++cpu)
    if (!fills_card(times, cpu))
      doubt = "; " + std::to_string(times.pairs) + " pairs of CPU " + std::to_string(cpu) +
              " do not fill a card: several cannot be told from one (raise `pairs` of the step)";
  if (!doubt.empty()) cards.assign(cards.size(), 0);
  const std::vector<double> distances = distances_s(times);
  core::Rails rails;
  const Card first = card_of(times, cards, distances, 0);
  for (int card = 0; card <= *std::max_element(cards.begin(), cards.end()); ++card) {
    const Card one = card_of(times, cards, distances, card);
    core::Rail& made = rails.cards.emplace_back();
    made.link_share = share(one.total, first.total);
    const double rate = share(one.rate, first.rate);
    if (rate != made.link_share) made.rate_share = rate;
    made.extra_latency_s = one.distance_s;
    for (int cpu = 0; cpu < times.cpus; ++cpu) {
      const auto place = static_cast<std::size_t>(cpu);
      if (cards[place] != card) continue;
      core::RailReach far{cpu, card, distances[place] - one.distance_s,
                          std::min(1.0, share(times.rate.at({cpu, cpu}), one.rate))};
      if (far.extra_latency_s > 0 || far.rate_share < 1) rails.far.push_back(far);
    }
  }
  for (const int card : cards) rails.near.push_back({card});
  fit.link_bytes_per_s = first.total.value;
  const bool is_plain = rails.cards.size() == 1 && rails.far.empty();
  fit.text = (is_plain ? "one card, as near to all CPUs" : rails.text(first.total.value)) + doubt;
  if (!is_plain) fit.rails = std::move(rails);
  return fit;
}

void detail::shorten_transfers(core::ScopeModel& scope, double sooner_s, double per_byte) {
  const auto shorten = [&](core::SegmentedLaw& transfer) {
    std::vector<core::Segment> segments = transfer.segments();
    for (core::Segment& segment : segments) {
      segment.intercept_s -= std::min(sooner_s, std::max(0.0, segment.intercept_s));
      segment.slope_s_per_byte *= per_byte;
    }
    transfer = core::SegmentedLaw::make(std::move(segments));
  };
  shorten(scope.cost(core::MessageCost::transfer));
  if (scope.panels) shorten(*scope.panels);
}

core::NetworkModel with_rails(const core::NetworkModel& network, const RailsFit& found) {
  core::NetworkModel::Values values = network.values();
  if (!found.rails || !values.remote) return network;
  const core::Rails::End first{0, found.rails->card_of(0, 0)};
  const core::Rails::Way measured = found.rails->way(first, first, 0);
  detail::shorten_transfers(*values.remote, measured.extra_latency_s, measured.rate);
  values.remote->bandwidth_bytes_per_s /= measured.rate;
  values.remote->capacity = core::LinkCapacity{found.link_bytes_per_s, 0, 0, core::LinkCapacity::Origin::measured};
  values.rails = found.rails;
  return core::NetworkModel::make(std::move(values));
}

}  // namespace hplcast::fit
