#include "study/explain/explain_parts.hpp"

#include <algorithm>
#include <cmath>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

namespace {

/// Without that of detours, the last.
const std::vector<RankPhaseField> phase_times(rank_phase_fields.begin(), rank_phase_fields.end() - 1);

std::vector<int> far_ranks(const std::vector<double>& real, const std::vector<double>& predicted, double predicted_s) {
  constexpr double least = 0.02;
  std::vector<double> differences, weights;
  for (std::size_t i = 0; i < real.size(); ++i) {
    differences.push_back(real[i] - predicted[i]);
    weights.push_back(std::abs(differences.back()));
  }
  const Spread spread = spread_of(differences, weights, least * predicted_s);
  std::vector<int> far;
  for (std::size_t i = 0; i < differences.size(); ++i)
    if (spread.distances[i] > spread.limit) far.push_back(static_cast<int>(i));
  return far;
}

const RankPhases* phase_of(const std::vector<RankPhases>& phases, const std::string& name) {
  const auto found = std::find_if(phases.begin(), phases.end(), [&](const RankPhases& p) { return p.name == name; });
  return found == phases.end() ? nullptr : &*found;
}

/// Nothing of one group. `name_of`: of the number of a group.
template <typename NameOf>
std::vector<KindTimes> times_of_groups(const std::map<int, std::vector<std::size_t>>& ranks, NameOf name_of,
                                       const std::vector<RankPhases>& real, const std::vector<RankPhases>& predicted) {
  std::vector<KindTimes> kinds;
  for (const auto& [group, its_ranks] : ranks) {
    const auto mean_s = [&, &its = its_ranks](const std::vector<RankPhases>& phases, const auto member) {
      double sum_s = 0;
      for (const RankPhases& phase : phases)
        for (const std::size_t rank : its) sum_s += (phase.*member).at(rank);
      return sum_s / static_cast<double>(its.size());
    };
    KindTimes one{name_of(group), static_cast<int>(its_ranks.size())};
    one.real_kernels_s = mean_s(real, &RankPhases::kernels_s);
    one.real_waiting_s = mean_s(real, &RankPhases::waiting_s);
    if (!predicted.empty()) {
      one.predicted_kernels_s = mean_s(predicted, &RankPhases::kernels_s);
      one.predicted_waiting_s = mean_s(predicted, &RankPhases::waiting_s);
    }
    kinds.push_back(std::move(one));
  }
  return kinds.size() > 1 ? kinds : std::vector<KindTimes>();
}

}  // namespace

std::vector<RankPhases> read_phases_csv(const std::filesystem::path& path) {
  std::vector<RankPhases> phases;
  core::read_file(path, [&](std::istream& in, const std::string& name) {
    core::CsvReader csv(in, name);
    while (csv.next()) {
      const std::string phase(csv.text(csv.column("phase")));
      if (phase_of(phases, phase) == nullptr) phases.push_back({phase, {}, {}, {}, {}});
      RankPhases& one = *std::find_if(phases.begin(), phases.end(), [&](const auto& p) { return p.name == phase; });
      for (const auto& [column, member] : phase_times) (one.*member).push_back(csv.number(csv.column(column)));
    }
  });
  return phases;
}

std::vector<RankPhases> mean_of(const std::vector<std::vector<RankPhases>>& runs) {
  std::vector<RankPhases> mean = runs.front();
  for (std::size_t phase = 0; phase < mean.size(); ++phase) {
    for (const auto& [column, member] : phase_times) {
      std::vector<double>& values = mean[phase].*member;
      for (std::size_t rank = 0; rank < values.size(); ++rank) {
        double sum = 0;
        for (const std::vector<RankPhases>& run : runs) sum += (run[phase].*member)[rank];
        values[rank] = sum / static_cast<double>(runs.size());
      }
    }
  }
  return mean;
}

std::vector<KindTimes> kind_times(const core::Hosts& hosts, const std::vector<RankPlace>& places,
                                  const std::vector<RankPhases>& real, const std::vector<RankPhases>& predicted) {
  std::map<int, std::vector<std::size_t>> ranks;
  for (std::size_t rank = 0; rank < places.size(); ++rank) ranks[hosts.kind_of(places[rank].host)].push_back(rank);
  return times_of_groups(
      ranks, [&](int kind) { return hosts.kind_name(kind); }, real, predicted);
}

std::vector<KindTimes> card_times(const std::optional<core::Rails>& rails, const std::vector<RankPlace>& places,
                                  const std::vector<RankPhases>& real, const std::vector<RankPhases>& predicted) {
  if (!rails || rails->use != core::Rails::Use::bound) return {};
  std::map<int, std::vector<std::size_t>> ranks;
  std::map<std::pair<int, int>, int> of_cpu;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    ranks[rails->card_of(place.cpu, of_cpu[{place.host, place.cpu}]++)].push_back(rank);
  }
  return times_of_groups(
      ranks, [](int card) { return "card " + std::to_string(card); }, real, predicted);
}

std::vector<PhaseDifference> phase_differences(const std::vector<RankPhases>& real,
                                               const std::vector<RankPhases>& predicted,
                                               const std::vector<core::PhaseSummary>& summaries, double predicted_s) {
  std::vector<PhaseDifference> differences;
  const std::vector<core::PhaseSummary> of_ranks = summarised(predicted);
  const std::vector<core::PhaseSummary>& known = predicted.empty() ? summaries : of_ranks;
  for (const core::PhaseSummary& phase : summarised(real)) {
    PhaseDifference one;
    one.real = phase;
    one.predicted.name = phase.name;
    for (const core::PhaseSummary& other : known)
      if (other.name == phase.name) one.predicted = other;
    const RankPhases* real_ranks = phase_of(real, phase.name);
    const RankPhases* ranks = phase_of(predicted, phase.name);
    if (ranks != nullptr && ranks->elapsed_s.size() == real_ranks->elapsed_s.size())
      one.far_ranks = far_ranks(real_ranks->elapsed_s, ranks->elapsed_s, predicted_s);
    differences.push_back(std::move(one));
  }
  return differences;
}

}  // namespace hplcast::study
