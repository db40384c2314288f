#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "fit/program/program_steps.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/fit/least_squares.hpp"

namespace hplcast::fit {

namespace {

using Cell = ObservedStretches::Cell;

/// Four classes per factor of 2; few instructions have one each.
int class_of(double size) {
  constexpr double alone = 16, per_octave = 4;
  return size < alone ? static_cast<int>(size - alone) : static_cast<int>(per_octave * std::log2(size / alone));
}

void add(Cell& sum, const Cell& one) {
  sum.least_size = sum.calls == 0 ? one.least_size : std::min(sum.least_size, one.least_size);
  sum.most_size = std::max(sum.most_size, one.most_size);
  sum.calls += one.calls;
  sum.size += one.size;
  sum.time_s += one.time_s;
  sum.scattered_s += one.scattered_s;
  sum.compared_s += one.compared_s;
}

constexpr double far_above = 5;  // the median: something else made it longer
/// Mean of those that are not far above `usual_s`, their median.
double mean_below(const std::vector<double>& times_s, double usual_s) {
  double sum_s = 0, count = 0;
  for (const double time_s : times_s) {
    if (time_s > far_above * usual_s) continue;
    sum_s += time_s;
    ++count;
  }
  return count > 0 ? sum_s / count : usual_s;
}

/// All runs, without calls that something else made longer: far above the median of all repetitions of a run, or in one
/// that was slower as a whole, of which the usual one counts. Calls scatter by what one differs by in two repetitions,
/// relative to their means: what differs between calls of the same run may be a law.
Cell typical(const std::map<std::size_t, Cell>& runs, const std::vector<std::string>& names) {
  std::map<std::string, std::vector<const Cell*>> repetitions;
  for (const auto& [run, cell] : runs) repetitions[run > 0 ? names[run - 1] : std::string()].push_back(&cell);
  Cell all;
  for (const auto& [name, cells] : repetitions) {
    Cell sum;
    std::vector<double> times_s, means_s;
    for (const Cell* cell : cells) {
      add(sum, *cell);
      times_s.insert(times_s.end(), cell->times_s.begin(), cell->times_s.end());
    }
    const double usual_s = std::max(0.0, core::median(times_s));
    for (const Cell* cell : cells) means_s.push_back(mean_below(cell->times_s, usual_s));
    sum.time_s = sum.calls * usual_of(means_s);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const std::vector<double>&here_s = cells[i]->times_s, &before_s = cells[i - 1]->times_s;
      const bool is_alone = here_s.size() < 2 || !(std::min(means_s[i], means_s[i - 1]) > 0);
      for (std::size_t j = 0; !is_alone && j < std::min(here_s.size(), before_s.size()); ++j) {
        if (std::max(here_s[j], before_s[j]) > far_above * usual_s) continue;
        sum.scattered_s += means_s[i] * std::pow(here_s[j] / means_s[i] - before_s[j] / means_s[i - 1], 2) / 2;
        sum.compared_s += means_s[i];
      }
    }
    add(all, sum);
  }
  return all;
}

/// Mean size and time of stretches, in ascending order of both.
struct StretchNode {
  double size = 0, time_s = 0, calls = 0;
};

StretchNode node_of(const Cell& cell) {
  return {cell.size / cell.calls, std::max(0.0, cell.time_s / cell.calls), cell.calls};
}

/// At most 12, of neighbouring classes. More instructions of the same code take no less time: neighbours that say so
/// are noise, and become one (pool adjacent violators: Ayer et al. 1955).
std::vector<StretchNode> nodes_of(const std::map<int, Cell>& cells) {
  constexpr std::size_t most = 12;
  std::vector<StretchNode> nodes;
  for (int step = 1; nodes.empty() || nodes.size() > most; step *= 2) {
    std::map<int, Cell> wider;
    for (const auto& [number, cell] : cells)
      add(wider[static_cast<int>(std::floor(static_cast<double>(number) / step))], cell);
    nodes.clear();
    for (const auto& [number, cell] : wider) nodes.push_back(node_of(cell));
  }
  std::vector<StretchNode> ascending;
  for (StretchNode node : nodes) {
    while (!ascending.empty() && ascending.back().time_s >= node.time_s) {
      const StretchNode& before = ascending.back();
      const double calls = before.calls + node.calls;
      node = {(before.size * before.calls + node.size * node.calls) / calls,
              (before.time_s * before.calls + node.time_s * node.calls) / calls, calls};
      ascending.pop_back();
    }
    ascending.push_back(node);
  }
  return ascending;
}

/// Between two nodes: where time goes about with size, by a power (the time per instruction changes evenly with the
/// logarithm of the size), in straight lines of at most a factor of 2; else one line (a constant and a time per
/// instruction).
void append_between(const StretchNode& from, const StretchNode& to, std::vector<StretchNode>& nodes) {
  const double ratio = to.size / from.size;
  const double power = from.time_s > 0 ? std::log(to.time_s / from.time_s) / std::log(ratio) : 0;
  constexpr double least = 0.8, most = 1.25, steps_at_most = 6;
  if (power < least || power > most) return;
  const int steps = static_cast<int>(std::min(steps_at_most, std::ceil(std::log2(ratio))));
  for (int i = 1; i < steps; ++i) {
    const double factor = std::pow(ratio, static_cast<double>(i) / steps);
    nodes.push_back({from.size * factor, from.time_s * std::pow(factor, power), 0});
  }
}

core::LawPiece straight_piece(double from, double slope, double constant, double relative_sd) {
  const auto times = [&](double factor) {
    const core::Monomial size{1, 0, 0}, one{0, 0, 0};
    return constant == 0 ? core::Polynomial::make({size}, {factor * slope})
                         : core::Polynomial::make({size, one}, {factor * slope, factor * constant});
  };
  if (relative_sd == 0) return {from, core::DurationLaw::make(times(1), {}, core::NoiseFamily::none)};
  return {from, core::DurationLaw::make(times(1), times(relative_sd), core::NoiseFamily::log_normal)};
}

/// A constant and a time per instruction.
struct CountLine {
  double constant_s = 0, per_instruction_s = 0;
  double at(double size) const { return constant_s + per_instruction_s * size; }
};

/// The one that fits best by relative errors, both at least 0, in which classes count half alike and half by their
/// time. Without a constant where that is off by no more than the 5 % by which the same run varies (two sizes: 10 %): a
/// constant of noise makes a slope that is extrapolated. One size does not tell a constant from a slope: of few
/// instructions it is a constant, else all of it is per instruction.
CountLine line_of(const std::map<int, Cell>& cells) {
  RegressionData data;
  data.columns.resize(2);
  double all_s = 0;
  for (const auto& [number, cell] : cells) all_s += std::max(0.0, cell.time_s);
  for (const auto& [number, cell] : cells) {
    constexpr double shortest_s = 1e-7;  // about what clocks tell
    const StretchNode node = node_of(cell);
    const double time_s = std::max(node.time_s, shortest_s);
    const double by_time = all_s > 0 ? std::max(0.0, cell.time_s) / all_s : 0;
    data.columns[0].push_back(node.size);
    data.columns[1].push_back(1);
    data.y.push_back(node.time_s);
    data.weights.push_back((by_time + 1 / static_cast<double>(cells.size())) / (time_s * time_s));
  }
  if (cells.size() > 1) {
    RegressionData without_constant = data;  // weights are of relative errors
    without_constant.columns.pop_back();
    const LeastSquares line = solve_least_squares(without_constant);
    const double same_run = cells.size() > 2 ? 0.05 : 0.1;
    constexpr double all_weights = 2;
    if (line.rss <= all_weights * same_run * same_run) return {0, line.coefficients[0]};
    const LeastSquares solution = solve_least_squares(data, LeastSquaresOptions{true});
    return {solution.coefficients[1], solution.coefficients[0]};
  }
  constexpr double few = 64;
  const double size = data.columns[0].front(), time_s = data.y.front();
  return size < few ? CountLine{time_s, 0} : CountLine{0, time_s / size};
}

/// Without classes of few calls that took far more time per instruction than the smaller class before them, and than
/// the line of all others: what happens once in a run (memory that is used for the first time) is no law. One between
/// others, or the last, need not be that far off: operands that leave a cache are a step that the next class has, too.
std::map<int, Cell> usual(const std::map<int, Cell>& cells) {
  constexpr double far = 5, off = 2, few = 0.1;
  double calls = 0, rate = 0;
  for (const auto& [number, cell] : cells) calls += cell.calls;
  std::map<int, Cell> result;
  for (auto place = cells.begin(); place != cells.end(); ++place) {
    const StretchNode node = node_of(place->second);
    if (!result.empty() && node.calls < few * calls && node.time_s > off * rate * node.size) {
      std::map<int, Cell> others = cells;
      others.erase(place->first);
      const CountLine line = line_of(others);
      const auto times_expected = [&](const StretchNode& one) {
        return one.time_s / std::max(line.at(one.size), rate * one.size);
      };
      const auto next = std::next(place);
      const bool is_alone = next == cells.end() || times_expected(node_of(next->second)) < off;
      if (times_expected(node) > (is_alone ? off : far)) continue;
    }
    rate = node.time_s / node.size;
    result.emplace(*place);
  }
  return result;
}

/// Beyond the largest size: the slope of the line, or the last one seen if the time per instruction grew by a tenth and
/// more from each of three sizes to the next: so do operands that leave the caches.
double slope_beyond(const std::vector<StretchNode>& nodes, double line_slope) {
  constexpr double apart = 1.5, grown = 1.1;
  std::vector<StretchNode> last;  // in descending order
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    if (last.empty() || apart * node->size <= last.back().size) last.push_back(*node);
  const auto rate = [&](std::size_t i) { return last[i].time_s / last[i].size; };
  if (last.size() < 3 || rate(0) < grown * rate(1) || rate(1) < grown * rate(2)) return line_slope;
  return std::max(line_slope, (last[0].time_s - last[1].time_s) / (last[0].size - last[1].size));
}

/// Through all nodes; from the first one down to 0 with the slope of line_of().
core::RegionModel model_of(const std::map<int, Cell>& observed) {
  const std::map<int, Cell> cells = usual(observed);
  const std::vector<StretchNode> seen = nodes_of(cells);
  std::vector<StretchNode> nodes;
  for (const StretchNode& node : seen) {
    if (!nodes.empty()) append_between(StretchNode(nodes.back()), node, nodes);
    nodes.push_back(node);
  }
  const double line_slope = line_of(cells).per_instruction_s, outside = slope_beyond(seen, line_slope);
  const StretchNode &first = nodes.front(), &last = nodes.back();
  const double least = std::min(line_slope, first.time_s / first.size);
  Cell sum;
  for (const auto& [number, cell] : observed) add(sum, cell);
  const double scatter = sum.compared_s > 0 ? std::sqrt(sum.scattered_s / sum.compared_s) : 0;
  std::vector<core::LawPiece> pieces = {straight_piece(0, least, first.time_s - least * first.size, scatter)};
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const double slope = (nodes[i + 1].time_s - nodes[i].time_s) / (nodes[i + 1].size - nodes[i].size);
    pieces.push_back(straight_piece(nodes[i].size, slope, nodes[i].time_s - slope * nodes[i].size, scatter));
  }
  pieces.push_back(straight_piece(last.size, outside, last.time_s - outside * last.size, scatter));
  core::RegionModel region;
  region.mode = core::RegionMode::model;
  core::ShapeRange range{{observed.begin()->second.least_size, 1, 1}, {observed.rbegin()->second.most_size, 1, 1}};
  region.calls = std::lround(sum.calls);
  region.time_s = std::max(0.0, sum.time_s);
  core::FitQuality quality;
  quality.rows = region.calls;
  quality.shapes = static_cast<long>(seen.size());
  region.model =
      core::KernelModel::make("M'", core::PiecewiseLaw::make({1, 0, 0}, std::move(pieces)), {}, range, quality);
  return region;
}

}  // namespace

CountedRun read_counts(const NamedInput& file) {
  CountedRun run;
  run.name = file.name;
  core::CsvReader rows(file.in, file.name);
  const std::size_t rank = rows.column("rank"), function = rows.column("function"), site = rows.column("site"),
                    instructions = rows.column("instructions");
  std::unordered_map<std::string, int> numbers;
  while (rows.next()) {
    constexpr int most_ranks = 1 << 24;
    const auto number = static_cast<std::size_t>(rows.integer(rank, 0, most_ranks - 1));
    if (number >= run.ranks.size()) run.ranks.resize(number + 1);
    const std::string name = core::call_site_name(std::string(rows.text(function)), std::string(rows.text(site)));
    const auto [place, is_new] = numbers.try_emplace(name, static_cast<int>(run.calls.size()));
    if (is_new) run.calls.push_back({std::string(rows.text(function)), name});
    run.ranks[number].push_back({place->second, rows.non_negative(instructions)});
  }
  if (run.ranks.empty())
    throw core::InputError(file.name + ": no calls in it; expected what `hplcast run --count` wrote");
  return run;
}

void read_stretches(const NamedInput& times, const CountedRun& counted, std::size_t rank,
                    ProgramObservation& observation) {
  const auto differ = [&](const std::string& here, const std::string& there) {
    throw core::InputError(times.name + ": " + here + ", but " + there + " in " + counted.name + ", rank " +
                           std::to_string(rank) +
                           "\n  hint: the observed run itself is to be simulated: the same source, arguments, input "
                           "files and number of ranks; its calls of MPI may not depend on what BLAS computes "
                           "(--numerics run), on MPI_Pcontrol or on which message comes first");
  };
  if (rank >= counted.ranks.size()) differ("rank " + std::to_string(rank), "there is none");
  const std::vector<CountedRun::Stretch>& stretches = counted.ranks[rank];
  core::CsvReader rows(times.in, times.name);
  const std::size_t function = rows.column("function"), time = rows.column("time_s");
  std::size_t i = 0;
  const std::string* before = nullptr;
  for (; rows.next(); ++i) {
    const std::string here(rows.text(function)), number = "call " + std::to_string(i + 1) + " of MPI is ";
    if (i >= stretches.size()) differ(number + here, "there is none");
    const CountedRun::Call& call = counted.calls[static_cast<std::size_t>(stretches[i].call)];
    // MPI_Init_thread and MPI_Init are what Fortran makes of each other; what is before them is the loader's.
    if (call.function != here && i > 0) differ(number + here, "it is " + call.function);
    if (before != nullptr) {
      const double size = core::stretch_size(stretches[i].instructions);
      ObservedStretches& seen = observation.stretches;
      Cell& cell = seen.cells[{*before, call.name}][class_of(size)][seen.runs.size()];
      add(cell, {1, size, rows.number(time), size, size});
      cell.times_s.push_back(rows.number(time));
    }
    before = &call.name;
  }
  if (i < stretches.size())
    differ(std::to_string(i) + " calls of MPI", "there are " + std::to_string(stretches.size()));
}

namespace detail {

void fit_stretches(const ProgramObservation& observation, double least_share, core::ProgramModel& program) {
  std::map<std::string, std::map<int, Cell>> by_name;
  for (const auto& [calls, cells] : observation.stretches.cells) {
    for (const core::StretchLevel level :
         {core::StretchLevel::site, core::StretchLevel::function, core::StretchLevel::any}) {
      std::map<int, Cell>& sums = by_name[core::stretch_name(calls.first, calls.second, level)];
      for (const auto& [number, runs] : cells) add(sums[number], typical(runs, observation.stretches.runs));
    }
  }
  for (const auto& [name, cells] : by_name) {
    core::RegionModel region = model_of(cells);
    if (region.time_s > least_share * observation.executed_s) program.regions.emplace(name, std::move(region));
  }
}

}  // namespace detail

}  // namespace hplcast::fit
