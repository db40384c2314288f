#include "hplcast/fit/program_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "fit/kernel/kernel_regression.hpp"
#include "fit/program/program_steps.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/hpl_kernels.hpp"
#include "hplcast/fit/least_squares.hpp"

namespace hplcast::fit {

namespace {

using core::Monomial;
using detail::form_of;
using detail::region_prefix;

/// A sample stands for many calls: a table has each of them that often, up to so many rows in all.
constexpr double most_rows = 100000;

KernelTable table_of(const std::vector<ObservedCall>& calls) {
  double sum = 0;
  for (const ObservedCall& one : calls) sum += one.calls;
  const double scale = sum > most_rows ? most_rows / sum : 1;
  KernelTable table;
  for (const ObservedCall& one : calls) {
    const long times = std::max(1L, std::lround(one.calls * scale));
    for (long i = 0; i < times; ++i) table.add(one.shape, one.duration_s);
  }
  return table;
}

/// Vectors whose elements are k apart: the time per element grows with the memory that they span, n k, and the pages
/// that they are in; at most to that of the slowest memory, so pieces are there, too.
std::vector<KernelFitOptions> strided_forms() {
  const Monomial n{0, 1, 0}, span{0, 1, 1}, by_length{0, 2, 0}, by_span{0, 2, 1};
  const auto in_pieces = [&](const std::vector<Monomial>& terms) {
    KernelFitOptions pieces = form_of(terms);
    pieces.level = "M'";
    pieces.split = span;
    pieces.max_pieces = 4;
    return pieces;
  };
  return {form_of({n}), form_of({n, by_span}), form_of({n, span, by_length}), in_pieces({n}), in_pieces({n, span})};
}

/// Calls at sizes that no observed call had, in any of its sizes.
std::vector<ObservedCall> beyond(const core::ShapeRange& seen, const std::vector<ObservedCall>& reach) {
  std::vector<ObservedCall> calls;
  for (const ObservedCall& one : reach)
    if (one.shape.m > seen.max.m || one.shape.n > seen.max.n || one.shape.k > seen.max.k) calls.push_back(one);
  return calls;
}

/// Candidate forms of a routine, and the products that its time grows with.
struct Growth {
  std::vector<KernelFitOptions> forms;
  Monomial term, split;  ///< time is about proportional to `term`, at a rate that goes with `split`
};

/// 1 stands for no size.
bool is_size(double least, double most) {
  return least != 1 || most != 1;
}

/// The product of all sizes that the routine has, even of one that was the same in all calls: it may be another one in
/// the prediction. Then faces of it, or edges.
Growth growth_of(const std::string& name, const core::ShapeRange& range) {
  const bool m = is_size(range.min.m, range.max.m), n = is_size(range.min.n, range.max.n),
             k = is_size(range.min.k, range.max.k);
  if (core::is_strided(name) && k) return {strided_forms(), {0, 1, 0}, {0, 1, 1}};
  const Monomial product{m ? 1 : 0, n ? 1 : 0, k ? 1 : 0};
  return {detail::forms_with(detail::terms_of_sizes(m, n, k)), product, product};
}

/// Sizes that differ by less than a factor of two do not tell a constant from a slope: the same run varies by 5 %, and
/// half or twice the size would be off by many times that.
bool has_one_size(const KernelTable& table, const Growth& growth) {
  constexpr double far_apart = 2;
  for (const Monomial& product : {growth.term, growth.split}) {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const ShapeSummary& one : table.shapes()) {
      least = std::min(least, product(one.shape));
      most = std::max(most, product(one.shape));
    }
    if (most >= far_apart * least) return false;
  }
  return true;
}

/// Time per call and product of sizes, one of both, whichever the calls allow.
KernelFit simplest_fit(const KernelTable& table, const Growth& growth) {
  KernelFitOptions options = growth.forms.front();
  options.noise = NoiseLevel::n1;
  KernelFit fit;
  if (!has_one_size(table, growth)) fit = fit_kernel(table, options);
  if (fit.ok()) return fit;
  options.intercept = Intercept::none;
  if (options.level == "M1") fit = fit_kernel(table, options);
  if (fit.ok()) return fit;
  KernelFitOptions constant = form_of({});
  constant.noise = NoiseLevel::n1;
  return fit_kernel(table, constant);
}

/// The best form, or a time per product in pieces by size where that takes away much of the error: in all ranges of
/// sizes alike, and not at the cost of where the time is.
KernelFit fit_by_size(const KernelTable& table, const Growth& growth) {
  if (has_one_size(table, growth)) return simplest_fit(table, growth);
  const detail::ShapeWeights weights = detail::weights_of(table, growth.split);
  KernelFit fit = fit_best_form(table, growth.forms, weights.both);
  if (!fit.ok()) fit = simplest_fit(table, growth);
  if (growth.term == Monomial{} || !fit.ok()) return fit;
  const std::optional<KernelFitOptions> form = detail::form_by_size(table, growth.term, growth.split);
  if (!form) return fit;
  KernelFit pieces = fit_kernel(table, *form);
  if (!pieces.ok()) return fit;
  const auto error = [&](const KernelFit& one, const std::vector<double>& by) {
    return detail::root_mean_square_error(table, one.model.cluster_law(), by);
  };
  // Runs vary by 5 %: below twice that the simpler form stays, and it can be extrapolated better.
  constexpr double enough = 0.1, much_less = 0.7, hardly_more = 1.1;
  const double before = error(fit, weights.both);
  const bool better = before > enough && error(pieces, weights.both) < much_less * before;
  const bool no_worse = error(pieces, weights.by_time) < std::max(enough, hardly_more * error(fit, weights.by_time));
  return better && no_worse ? pieces : fit;
}

bool is_product(const std::string& name, const std::vector<ObservedCall>& calls) {
  return !core::is_strided(name) && std::any_of(calls.begin(), calls.end(), [](const ObservedCall& one) {
    return one.shape.m > 1 && one.shape.n > 1 && one.shape.k > 1;
  });
}

/// Calls measured after the run are for sizes beyond those of the run: in memory, whereas the program
/// may have its operands in a cache. So one formula has to do about as well for the observed sizes as one of these
/// alone; else each has its own, and the other one begins where `split` is beyond all that was observed.
KernelFit fit_with_reach(const std::string& name, const std::vector<ObservedCall>& calls,
                         const std::vector<ObservedCall>& more) {
  const KernelTable observed = table_of(calls);
  if (is_product(name, calls)) {
    const KernelFit inside = fit_by_size(observed, growth_of(name, observed.range()));
    return inside.ok() ? detail::with_wider_products(inside, observed, table_of(more)) : inside;
  }
  std::vector<ObservedCall> all = calls;
  all.insert(all.end(), more.begin(), more.end());
  const KernelTable whole = table_of(all);
  const Growth growth = growth_of(name, whole.range());
  KernelFit one = fit_by_size(whole, growth), inside = fit_by_size(observed, growth);
  if (!one.ok() || !inside.ok()) return one;
  const std::vector<double> weights = detail::weights_of(observed, growth.split).both;
  const auto error = [&](const KernelFit& fit) {
    return detail::root_mean_square_error(observed, fit.model.cluster_law(), weights);
  };
  constexpr double enough = 0.1, about_as_well = 1.25;
  if (error(one) < std::max(enough, about_as_well * error(inside))) return one;
  double last = 0, next = std::numeric_limits<double>::infinity();
  for (const ObservedCall& call : calls) last = std::max(last, growth.split(call.shape));
  std::vector<ObservedCall> farther;
  for (const ObservedCall& call : more) {
    if (!(growth.split(call.shape) > last)) continue;
    farther.push_back(call);
    next = std::min(next, growth.split(call.shape));
  }
  if (farther.empty()) return inside;
  const KernelFit outside = fit_by_size(table_of(farther), growth);
  if (!outside.ok()) return inside;
  return detail::joined(inside, outside, growth.split, std::sqrt(last * next), whole.range());
}

KernelFit fit_routine(const std::string& name, const std::vector<ObservedCall>& calls, bool matters,
                      const std::vector<ObservedCall>& reach = {}) {
  const KernelTable table = table_of(calls);
  if (!matters) return simplest_fit(table, growth_of(name, table.range()));
  const std::vector<ObservedCall> more = beyond(table.range(), reach);
  return more.empty() ? fit_by_size(table, growth_of(name, table.range())) : fit_with_reach(name, calls, more);
}

core::RegionModel region_model(const std::vector<ObservedCall>& calls, const ObservedSum& sum) {
  core::RegionModel region;
  region.calls = std::lround(sum.calls);
  region.time_s = sum.time_s;
  if (calls.empty() || growth_of("", table_of(calls).range()).term == Monomial{}) return region;  // skip: the mean
  KernelFit fit = fit_routine("", calls, true);
  if (!fit.ok()) return region;
  region.mode = core::RegionMode::model;
  region.model = std::move(fit.model);
  return region;
}

/// Calls of a rank that its samples stand for, by routine.
using SampledCalls = std::map<std::string, double>;

/// The rows of columns routine,m,n,k,duration_s,calls. Where `may_be_zero`, a clock cannot tell a region without work
/// (also one with a size of 0) from one that was not entered.
void read_call_rows(const NamedInput& file, bool may_be_zero,
                    const std::function<void(const std::string& name, const ObservedCall& call)>& each) {
  constexpr double shortest_s = 1e-9;
  core::CsvReader rows(file.in, file.name);
  const std::size_t routine = rows.column("routine"), m = rows.column("m"), n = rows.column("n"), k = rows.column("k"),
                    duration = rows.column("duration_s"), calls = rows.column("calls");
  const std::size_t faults = rows.find_column("faults"), cold = rows.find_column("cold");
  while (rows.next()) {
    const double duration_s = may_be_zero ? std::max(rows.non_negative(duration), shortest_s) : rows.positive(duration);
    const bool is_region = may_be_zero && core::begins_with(rows.text(routine), region_prefix);
    const auto size = is_region ? &core::CsvReader::non_negative : &core::CsvReader::positive;
    each(std::string(rows.text(routine)), {{(rows.*size)(m), (rows.*size)(n), (rows.*size)(k)},
                                           duration_s,
                                           rows.positive(calls),
                                           rows.non_negative_or(0, faults),
                                           rows.non_negative_or(0, cold) > 0});
  }
}

SampledCalls read_calls(const NamedInput& file, ProgramObservation& observation) {
  SampledCalls sampled;
  ProgramObservation::RankRest& rest = observation.rests.back();
  const int rank = static_cast<int>(observation.rests.size()) - 1;
  read_call_rows(file, true, [&](const std::string& name, ObservedCall call) {
    call.rank = rank;
    sampled[name] += call.calls;
    if (!(call.shape.m * call.shape.n * call.shape.k > 0)) return;
    observation.calls[name].push_back(call);
    if (core::begins_with(name, region_prefix) || core::is_mpi_function(name)) return;
    rest.calls += call.calls;
    rest.elements += call.calls * (core::is_strided(name) ? call.shape.n : core::largest_face(call.shape));
  });
  return sampled;
}

/// @throws core::ParseError if samples of the routine in this row were lost: they stand for all of its calls.
void require_all_calls(const core::CsvReader& rows, std::size_t column, const SampledCalls& sampled,
                       const std::string& name) {
  constexpr double rounding = 1e-6;  // of numbers with nine digits
  const auto found = sampled.find(name);
  const double calls = rows.non_negative(column), samples = found == sampled.end() ? 0 : found->second;
  if (std::abs(samples - calls) > rounding * calls)
    throw core::ParseError(rows.at(column), core::shortest(calls) + " of " + name +
                                                ", but the samples in calls.csv of this rank stand for " +
                                                core::shortest(samples) +
                                                "; expected an archive as `hplcast observe` wrote it");
}

void read_times(const NamedInput& file, const SampledCalls& sampled, ProgramObservation& observation) {
  core::CsvReader rows(file.in, file.name);
  const std::size_t what = rows.column("what"), its_name = rows.column("name"), calls = rows.column("calls"),
                    time = rows.column("time_s"), flop = rows.column("flop");
  ProgramObservation::RankRest& rest = observation.rests.back();
  while (rows.next()) {
    const std::string kind(rows.text(what));
    const ObservedSum one{rows.non_negative(calls), rows.number(time), rows.non_negative(flop)};
    const auto add = [&](std::map<std::string, ObservedSum>& sums, const std::string& key = {}) {
      ObservedSum& sum = sums[key.empty() ? std::string(rows.text(its_name)) : key];
      sum.calls += one.calls;
      sum.time_s += one.time_s;
      sum.flop += one.flop;
    };
    if (kind == "routine" || kind == "region") {
      const std::string name = (kind == "region" ? region_prefix : "") + std::string(rows.text(its_name));
      require_all_calls(rows, calls, sampled, name);
      add(kind == "routine" ? observation.routines : observation.regions);
      add(rest.sums, name);
      if (kind == "routine" && is_product(name, observation.calls[name])) add(rest.products);
    }
    if (kind == "inside") add(observation.inside);
    if (kind == "mpi") add(observation.mpi);
    if (kind == "mpi") rest.mpi_s += one.time_s;
    if (kind == "mpi") rest.mpi_calls += one.calls;
    if (kind == "mpi" && exchanges_messages(rows.text(its_name)))
      rest.exchanged_s[std::string(rows.text(its_name))] += one.time_s;
    if (kind == "wall") rest.wall_s = rows.non_negative(time);
    if (kind == "total") observation.executed_s += rest.executed_s = one.time_s;
    if (kind == "rest") observation.rest_s += rest.rest_s = one.time_s;
    if (kind == "threads") {
      observation.other_threads_s += one.time_s;
      observation.foreign_calls += one.calls;
    }
  }
}

/// Repetitions of a run have the same calls on the same rank: something slowed down some of them, of which the usual
/// one counts. So the calls of each take what they took in the mean times that one's time over their own.
std::map<std::string, std::vector<ObservedCall>> usual_calls(const ProgramObservation& seen) {
  std::map<std::pair<int, std::string>, double> sizes;  // by rank, and routine: regions and swaps have no flop
  for (const auto& [name, list] : seen.calls)
    for (const ObservedCall& one : list) sizes[{one.rank, name}] += one.calls * one.shape.m * one.shape.n * one.shape.k;
  std::vector<std::string> runs;
  std::map<std::pair<std::string, std::string>, std::vector<double>> times_s;  // by run, and routine
  for (const ProgramObservation::RankRest& rank : seen.rests) {
    const int number = static_cast<int>(runs.size());
    std::string& run = runs.emplace_back(rank.name.substr(rank.name.rfind(':') + 1));
    for (const auto& [name, sum] : rank.sums)
      run += " " + name + " " + core::shortest(sum.calls) + " " +
             core::shortest(sum.flop > 0 ? sum.flop : sizes[{number, name}]);
    for (const auto& [name, sum] : rank.sums) times_s[{run, name}].push_back(sum.time_s);
  }
  std::map<std::string, std::vector<ObservedCall>> calls = seen.calls;
  for (auto& [name, list] : calls) {
    std::vector<double> factors(seen.rests.size(), 1);
    for (std::size_t rank = 0; rank < seen.rests.size(); ++rank) {
      const auto own = seen.rests[rank].sums.find(name);
      if (own != seen.rests[rank].sums.end() && own->second.time_s > 0)
        factors[rank] = usual_of(times_s[{runs[rank], name}]) / own->second.time_s;
    }
    for (ObservedCall& call : list)
      if (call.rank >= 0) call.duration_s *= factors[static_cast<std::size_t>(call.rank)];
  }
  return calls;
}

/// Calls at sizes of one power of two.
int range_of(const ObservedCall& call) {
  return std::ilogb(call.shape.m * call.shape.n * call.shape.k);
}

/// Unless `most` of all is in them.
template <typename IsFirst>
void leave_out(const IsFirst& is_first, double most, double (*amount)(const ObservedCall&),
               std::vector<ObservedCall>& calls) {
  double all = 0, first = 0;
  for (const ObservedCall& one : calls) {
    all += amount(one);
    if (is_first(one)) first += amount(one);
  }
  if (first <= most * all) calls.erase(std::remove_if(calls.begin(), calls.end(), is_first), calls.end());
}

/// Without calls that touched memory for the first time, where these are few: that happens once in a run, in the first
/// calls, which in factorisations are the longest ones, so that they would be the law of longer calls. Nor calls of the
/// first milliseconds, where there are later ones of such sizes that took most of the time: short runs consist of them,
/// and longer ones do not.
void leave_out_first_uses(std::map<std::string, std::vector<ObservedCall>>& calls) {
  constexpr double few_calls = 0.25, most_of_time = 0.5;
  for (auto& [name, list] : calls) {
    leave_out([](const ObservedCall& one) { return one.faults >= 1; }, few_calls,
              [](const ObservedCall& one) { return one.calls; }, list);
    if (core::is_mpi_function(name) || core::begins_with(name, region_prefix)) continue;
    std::set<int> warm;
    for (const ObservedCall& one : list)
      if (!one.cold) warm.insert(range_of(one));
    leave_out([&](const ObservedCall& one) { return one.cold && warm.count(range_of(one)) > 0; }, most_of_time,
              [](const ObservedCall& one) { return one.calls * one.duration_s; }, list);
  }
}

/// Non-negative least squares over ranks; a part that is the same in all of them (the start of the program) is left
/// out.
void fit_rest(const std::vector<ProgramObservation::RankRest>& rests, core::ProgramModel& program) {
  RegressionData data;
  data.columns.resize(3);
  for (const auto& one : rests) {
    if (!(one.calls > 0 && one.rest_s > 0)) continue;
    data.columns[0].push_back(one.elements);
    data.columns[1].push_back(one.calls);
    data.columns[2].push_back(1);
    data.y.push_back(one.rest_s);
    data.weights.push_back(1 / one.rest_s);
  }
  if (data.y.empty()) return;
  const LeastSquares solution = solve_least_squares(data, LeastSquaresOptions{true});
  program.rest_s_per_element = solution.coefficients[0];
  program.rest_s_per_call = solution.coefficients[1];
}

}  // namespace

void read_observed_rank(const NamedInput& calls, const NamedInput& times, ProgramObservation& observation) {
  observation.rests.emplace_back();
  observation.rests.back().name = times.name;
  const SampledCalls sampled = read_calls(calls, observation);
  read_times(times, sampled, observation);
}

void read_reach(const NamedInput& file, ProgramObservation& observation) {
  read_call_rows(file, false,
                 [&](const std::string& name, const ObservedCall& call) { observation.reach[name].push_back(call); });
}

double usual_of(std::vector<double> repetitions) {
  const auto middle = repetitions.begin() + static_cast<std::ptrdiff_t>((repetitions.size() - 1) / 2);
  std::nth_element(repetitions.begin(), middle, repetitions.end());
  return *middle;
}

bool exchanges_messages(std::string_view function) {
  constexpr std::array parts = {"Send",  "send",   "Recv",   "recv", "Wait", "Test",  "robe",   "Start",  "Barrier",
                                "Bcast", "Reduce", "reduce", "Scan", "scan", "ather", "catter", "lltoall"};
  const auto has = [&](const char* part) { return function.find(part) != std::string_view::npos; };
  return core::begins_with(function, "MPI_") && std::any_of(parts.begin(), parts.end(), has);
}

std::optional<double> message_factor(const std::vector<MessageTimes>& runs) {
  constexpr double least_share = 0.01, far = 10, most = 3, waiting_error = 1.0 / 3, run_error = 0.05;
  const auto real_of = [](const MessageTimes::Function& one) { return one.real_s.empty() ? 0 : usual_of(one.real_s); };
  double real_s = 0, messages_s = 0, waiting_s = 0, all_s = 0, weighted = 0, weights = 0;
  for (const MessageTimes& run : runs) {
    all_s += run.run_s;
    double run_s = 0;
    for (const auto& [name, one] : run.functions) run_s += real_of(one);
    real_s += run_s;
    for (const auto& [name, one] : run.functions) {
      messages_s += one.messages_s;
      waiting_s += one.waiting_s;
      if (name.find("probe") != std::string::npos || name.find("Test") != std::string::npos || !(run_s > 0)) continue;
      const double error_s = std::hypot(waiting_error * one.waiting_s, run_error * run_s);
      weighted += one.messages_s * (real_of(one) - one.waiting_s) / (error_s * error_s);
      weights += one.messages_s * one.messages_s / (error_s * error_s);
    }
  }
  if (!(messages_s > least_share * all_s)) return std::nullopt;
  const double ratio = real_s / (messages_s + waiting_s);
  core::require(ratio < far && ratio > 1 / far, "time in messages, real to simulated", ratio, "a ratio of 0.1 to 10",
                "the simulations are to be of the observed runs, on the cluster of the same machine");
  return weights > 0 ? std::clamp(weighted / weights, 1 / most, most) : std::optional<double>();
}

ProgramFit fit_program(const ProgramObservation& observation, double least_share) {
  if (!(observation.executed_s > 0))
    throw core::InputError("no CPU time was observed; expected what `hplcast observe` wrote");
  ProgramFit fit;
  core::ProgramModel& program = fit.program;
  std::map<std::string, std::vector<ObservedCall>> observed = usual_calls(observation);
  leave_out_first_uses(observed);
  double routines_s = 0, mpi_s = 0;
  for (const auto& [name, sum] : observation.mpi) mpi_s += sum.time_s;
  for (const auto& [name, sum] : observation.routines) {
    routines_s += sum.time_s;
    const auto calls = observed.find(name);
    if (calls == observed.end()) continue;
    const auto reach = observation.reach.find(name);
    const bool has_reach = reach != observation.reach.end();
    KernelFit one = fit_routine(name, calls->second, has_reach || sum.time_s > least_share * observation.executed_s,
                                has_reach ? reach->second : std::vector<ObservedCall>{});
    if (one.ok()) {
      fit.errors.emplace(name, detail::range_errors(table_of(calls->second), one.model.cluster_law()));
      program.routines.emplace(name, one.model);
    } else {
      fit.warnings.push_back(name + " gets no model: " + one.reason);
    }
    fit.fits.emplace(name, std::move(one));
  }
  // Strides that no observed call had: other sizes of a matrix bring them.
  for (const auto& [name, reach] : observation.reach) {
    if (observed.count(name) > 0) continue;
    const KernelTable table = table_of(reach);
    KernelFit one = fit_by_size(table, growth_of(name, table.range()));
    if (one.ok()) program.routines.emplace(name, std::move(one.model));
  }
  for (const auto& [name, sum] : observation.regions) {
    if (!(sum.calls > 0)) continue;
    const std::vector<ObservedCall>& calls = observed[region_prefix + name];
    core::RegionModel region = region_model(calls, sum);
    if (region.mode == core::RegionMode::model)
      fit.errors.emplace(region_prefix + name, detail::range_errors(table_of(calls), region.model.cluster_law()));
    program.regions.emplace(name, std::move(region));
  }
  detail::fit_stretches(observation, least_share, program);
  program.observed = {observation.executed_s + mpi_s, routines_s, mpi_s, observation.rest_s};
  fit_rest(observation.rests, program);
  detail::add_warnings(observation, fit);
  return fit;
}

}  // namespace hplcast::fit
