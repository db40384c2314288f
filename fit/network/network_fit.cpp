#include "hplcast/fit/network_fit.hpp"

#include <algorithm>
#include <limits>

#include "fit/network/network_steps.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/row_rules.hpp"

namespace hplcast::fit {

namespace {

using detail::MpiSamples;
using detail::ScopeLines;
using detail::ScopeSamples;
using detail::Thresholds;

constexpr std::array<core::Scope, 2> scopes = {core::Scope::local, core::Scope::remote};
constexpr double infinity = std::numeric_limits<double>::infinity();

OperationReport report_of(core::Scope scope, std::size_t operation, const detail::SizedSamples& samples,
                          const std::vector<FittedSegment>& segments, const detail::ResidualSummary& residuals,
                          const detail::CappedCalls& capped) {
  OperationReport report;
  report.scope = scope;
  report.operation = detail::sized_operation_names[operation];
  report.rows = samples.by_size.rows();
  report.rows_failed = samples.failed;
  report.rows_set_aside = samples.set_aside;
  report.cells = samples.by_size.cells();
  report.sizes = static_cast<long>(report.cells.size());
  if (!report.cells.empty()) {
    report.min_bytes = report.cells.front().size;
    report.max_bytes = report.cells.back().size;
  }
  report.segments = segments;
  report.rows_capped = capped.rows;
  if (capped.all_s > 0) report.share_above_cap = capped.above_s / capped.all_s;
  report.noise = residuals.noise;
  report.relative_sd = residuals.relative_sd;
  return report;
}

void note_interruptions(bool means, NetworkFit& fit) {
  constexpr double noteworthy = 0.1;
  for (const OperationReport& report : fit.operations) {
    const long all = report.rows + (means ? 0 : report.rows_set_aside);
    const std::string rows = " of " + std::to_string(all) + " rows of operation `" + report.operation + "` ";
    const auto note = [&](long some, const std::string& what) {
      fit.notes.push_back(std::string(to_string(report.scope)) + ": " + std::to_string(some) + rows + what);
    };
    if (report.rows_capped > 0)
      note(
          report.rows_capped,
          core::printed("count as %.0f times what is expected though they lasted longer: %.2g %% of the time of all is "
                        "above that and in no model",
                        most_times_expected, 100 * report.share_above_cap));
    if (static_cast<double>(report.rows_set_aside) > noteworthy * static_cast<double>(all))
      note(report.rows_set_aside,
           std::string(means ? "are" : "were set aside as") + " interrupted: the machine was busy");
  }
}

/// With noise around it the line of the objective log, a geometric mean, becomes an expectation.
void make_expectations(const detail::ScopeResiduals& residuals, ScopeLines& lines) {
  for (std::size_t o = 0; o < detail::sized_operation_count; ++o) {
    for (std::size_t i = 0; i < residuals[o].noise.size(); ++i) {
      lines.of[o][i].intercept *= residuals[o].noise[i].mean_ratio;
      lines.of[o][i].slope *= residuals[o].noise[i].mean_ratio;
    }
  }
}

void add_probe_costs(const MpiSamples& samples, const NetworkFitOptions& options, core::NetworkModel::Values& values,
                     NetworkFit& fit) {
  const auto cost_s = [&](const char* operation) {
    constexpr double trimmed = 0.1;  // at each end, as published
    const detail::TrimmedMean& rows = samples.probes_s.at(operation);
    if (rows.empty()) fit.notes.push_back(std::string("no rows of operation `") + operation + "`: its cost is 0");
    return rows.value(trimmed);
  };
  values.iprobe_s = cost_s("iprobe");
  values.test_s = cost_s("test");
  values.wtime_s = cost_s("wtime") / options.wtime_calls_per_row;
}

/// The model of one scope, or nothing (with the reason in `fit`) if its rows do not allow one.
std::optional<core::ScopeModel> scope_model(core::Scope scope, const ScopeSamples& samples, const ScopeLines& lines,
                                            const detail::ScopeResiduals& residuals, const Thresholds& thresholds,
                                            const NetworkFitOptions& options, NetworkFit& fit) {
  if (samples.empty()) return std::nullopt;
  const std::string where = std::string(to_string(scope)) + ": ";
  if (!lines.problem.empty()) {
    const bool is_empty = samples.sized[detail::op_pingpong].by_size.rows() == 0;
    fit.status = is_empty ? NetworkStatus::no_pingpong : NetworkStatus::too_few_sizes;
    fit.reason = where + lines.problem;
    fit.notes.push_back(fit.reason);
    return std::nullopt;
  }
  const auto note_absent = [&](detail::SizedOperation operation, const char* consequence) {
    if (!lines.of[operation].empty()) return;
    fit.notes.push_back(where + "no rows of operation `" + detail::sized_operation_names[operation] +
                        "`: " + consequence);
  };
  note_absent(detail::op_recv, "the receive overhead is 0");
  if (lines.of[detail::op_send].empty() && lines.of[detail::op_isend].empty()) {
    fit.notes.push_back(where + "no rows of operations `send` and `isend`: the send overhead is 0");
  } else {
    note_absent(detail::op_send, "the send overhead is that of isend");
    note_absent(detail::op_isend, "its overhead is that of send");
  }
  const std::vector<FittedSegment>& round_trips = lines.of[detail::op_pingpong];
  for (const double given : options.breakpoints.value_or(std::vector<double>()))
    if (segment_at(round_trips, given).min != given)
      fit.notes.push_back(where + core::printed("no breakpoint at %.0f bytes: expected two of the sizes measured on "
                                                "each side of it, up to the next",
                                                given));
  const double max_bytes = samples.sized[detail::op_pingpong].by_size.cells().back().size;
  core::ScopeModel model = detail::make_scope_model(lines, residuals, thresholds, max_bytes, options);
  model.first_use_s_per_byte = options.first_use_s_per_byte[static_cast<std::size_t>(scope)];
  constexpr double rounding = 1e-9;
  for (const core::Segment& s : model.cost(core::MessageCost::transfer).segments()) {
    if (!options.physical || s.slope_s_per_byte * model.bandwidth_bytes_per_s >= 1 - rounding) continue;
    fit.notes.push_back(where + "messages from " + std::to_string(static_cast<long>(s.min_bytes)) +
                        " bytes on grow by less per byte than at the link's rate, " +
                        core::rate_text(model.bandwidth_bytes_per_s) +
                        ": their cost is kept, and SMPI's bandwidth factor there is above 1");
  }
  return model;
}

/// Ping-pongs say how long a message takes alone, exchanges whether two in opposite directions take as long: a message
/// and an exchange then take two such times, else three.
void find_half_duplex(const MpiRows& rows, double detached_bytes,
                      std::array<std::optional<core::ScopeModel>, 2>& models, NetworkFit& fit) {
  constexpr double between = 2.5, most = 4;            // more than three times: something else disturbed
  constexpr double trimmed = 0.25;                     // at each end: interrupted calls do not count
  std::array<detail::TrimmedMean, 2> messages, alone;  // in relation to what is expected
  rows([&](const core::MpiMeasurement& row) {
    const bool exchanged = row.operation == "exchange", there_and_back = row.operation == "pingpong";
    if (!(exchanged || there_and_back) || !row.error.empty() || row.size_bytes < detached_bytes) return;
    const auto s = static_cast<std::size_t>(core::from_name<core::Scope>(row.scope));
    const double expected_s = models[s] ? models[s]->cost(core::MessageCost::transfer).mean_s(row.size_bytes) : 0;
    if (!(expected_s > 0)) return;
    (exchanged ? messages : alone)[s].add((exchanged ? 1 : 0.5) * row.duration_s / expected_s);
  });
  for (const core::Scope scope : scopes) {
    const auto s = static_cast<std::size_t>(scope);
    if (messages[s].empty()) continue;
    const double found = messages[s].value(trimmed) / (alone[s].empty() ? 1 : alone[s].value(trimmed));
    models[s]->half_duplex = found > between && found < most;
    fit.notes.push_back(std::string(to_string(scope)) + ": a message and one in each direction after it take " +
                        core::printed("%.3g times as long as one message", found) +
                        (models[s]->half_duplex ? ": long messages go one way at a time (half_duplex)" : "") +
                        (found >= most ? ": two or three were expected; the machine was busy, measure again" : ""));
  }
}

/// Time by which a message and an exchange behind it take longer than their messages, of which two are on their way at
/// once unless they go one way at a time: of short ones, and per byte of long ones where these go both ways. Medians,
/// which calls with a tail have below what is expected of them: so is that of round trips, of two messages.
void find_exchange_costs(const MpiRows& rows, double detached_bytes,
                         std::array<std::optional<core::ScopeModel>, 2>& models, NetworkFit& fit) {
  constexpr double most_short_bytes = 16 * 1024, least_long_bytes = 256 * 1024;
  const auto beyond_s = [&](const core::ScopeModel& model, const core::MpiMeasurement& row) {
    const auto cost_s = [&](core::MessageCost which) { return model.cost(which).mean_s(row.size_bytes); };
    const bool waits = row.size_bytes >= detached_bytes, exchanged = row.operation == "exchange";
    double message_s = cost_s(core::MessageCost::transfer);
    if (!waits) message_s += cost_s(core::MessageCost::send) + cost_s(core::MessageCost::recv);
    return row.duration_s - (exchanged && waits && model.half_duplex ? 3 : 2) * message_s -
           (exchanged ? model.exchange_s : 0);  // 0 until it is found
  };
  const auto found = [&](core::Scope scope, double least_bytes, double most_bytes, bool per_byte) {
    const core::ScopeModel& model = *models[static_cast<std::size_t>(scope)];
    std::vector<double> exchanges, round_trips;
    rows([&](const core::MpiMeasurement& row) {
      if (!row.error.empty() || row.scope != to_string(scope) || row.size_bytes < least_bytes ||
          row.size_bytes > most_bytes)
        return;
      const double each = beyond_s(model, row) / (per_byte ? row.size_bytes : 1);
      if (row.operation == "exchange") exchanges.push_back(each);
      if (row.operation == "pingpong") round_trips.push_back(each);
    });
    const double usual = round_trips.empty() ? 0 : core::median(std::move(round_trips));
    return exchanges.empty() ? 0 : std::max(0.0, core::median(std::move(exchanges)) - usual);
  };
  for (const core::Scope scope : scopes) {
    auto& model = models[static_cast<std::size_t>(scope)];
    if (!model) continue;
    model->exchange_s = found(scope, 0, most_short_bytes, false);
    if (!model->half_duplex) model->exchange_s_per_byte = found(scope, least_long_bytes, infinity, true);
    const double per_byte = model->exchange_s_per_byte;
    if (model->exchange_cost_s(1) > 0)
      fit.notes.push_back(std::string(to_string(scope)) + ": exchanges take " + core::time_text(model->exchange_s) +
                          (per_byte > 0 ? core::printed(" and %.3g s per byte", per_byte) : "") +
                          " longer than their messages (exchange_s)");
  }
}

/// The capacity of each scope that has a model; where it was not measured, a note in the model says so. A pair with
/// many messages on their way shows what the link carries at least.
void find_capacities(const MpiRows& rows, const NetworkFitOptions& options, const detail::ImportedRows& imported,
                     std::array<std::optional<core::ScopeModel>, 2>& models, NetworkFit& fit) {
  const auto all_turns = detail::saturated_turns(rows);
  for (const core::Scope scope : scopes) {
    auto& model = models[static_cast<std::size_t>(scope)];
    const detail::SaturatedTurns& turns = all_turns[static_cast<std::size_t>(scope)];
    LinkCapacityFit& capacity = fit.capacities[static_cast<std::size_t>(scope)];
    capacity = fit_link_capacity(scope, turns.complete);
    const std::string where = std::string(to_string(scope)) + ": ";
    if (turns.incomplete > 0)
      fit.notes.push_back(where + std::to_string(turns.incomplete) +
                          " rows of the design lack that of a pair: left out");
    if (capacity.status != SaturationStatus::no_rows)
      for (const std::string& note : capacity.notes) fit.notes.push_back(where + note);
    if (!model) continue;
    if (const auto given = options.capacity_bytes_per_s[static_cast<std::size_t>(scope)]) {
      model->capacity = core::LinkCapacity{*given, 0, 0, core::LinkCapacity::Origin::given};
      continue;
    }
    const double stream = imported.stream_bytes_per_s[static_cast<std::size_t>(scope)];
    if (!capacity.ok() && stream > model->bandwidth_bytes_per_s) {
      model->capacity = core::LinkCapacity{stream, 0, 0, core::LinkCapacity::Origin::given};
      fit.flags.push_back(
          {to_string(scope), "capacity_lower_bound",
           "the capacity is that of one pair with many messages on their way (stream): several pairs may "
           "get more"});
    }
    if (!capacity.ok()) continue;
    const auto& [rate, low, high] = capacity.capacity;
    model->capacity = {rate, std::min(low, rate), std::max(high, rate), core::LinkCapacity::Origin::measured};
    fit.flags.insert(fit.flags.end(), capacity.flags.begin(), capacity.flags.end());
  }
}

/// Says in the model what is assumed where a capacity was not measured.
core::NetworkModel with_notes(const core::NetworkModel& network, NetworkFit& fit) {
  core::NetworkModel::Values values = network.values();
  for (const core::Scope scope : scopes) {
    const auto unknown = core::capacity_unknown(network, scope);
    if (!unknown) continue;
    std::string note = unknown->detail;
    const LinkCapacityFit& capacity = fit.capacities[static_cast<std::size_t>(scope)];
    if (capacity.status != SaturationStatus::no_rows) note += " (" + capacity.reason + ")";
    (scope == core::Scope::remote ? *values.remote : values.local).notes.push_back("capacity: " + note);
    fit.notes.push_back(unknown->subject + ": " + note);
  }
  for (QualityFlag& doubt : core::contradictions(network)) fit.flags.push_back(std::move(doubt));
  return core::NetworkModel::make(std::move(values));
}

}  // namespace

void validate(const NetworkFitOptions& options) {
  core::require(options.receive_delay_s > 0, "receive_delay_s", options.receive_delay_s, "a number > 0");
  core::require(options.wtime_calls_per_row > 0, "wtime_calls_per_row", options.wtime_calls_per_row, "a number > 0");
  for (const auto& value : {options.bandwidth_bytes_per_s, options.latency_s, options.capacity_bytes_per_s[0],
                            options.capacity_bytes_per_s[1]})
    if (value && !(*value > 0)) throw core::DomainError("bandwidth, latency or capacity", *value, "a number > 0");
  if (options.detached_bytes && *options.detached_bytes < options.async_small_bytes.value_or(0))
    throw core::DomainError("detached_bytes", *options.detached_bytes, "at least async_small_bytes");
  SegmentedOptions regression = options.regression;
  regression.breakpoints = options.breakpoints;
  validate(regression);
}

NetworkFit fit_network(const MpiRows& all_rows, const NetworkFitOptions& options) {
  validate(options);
  NetworkFit fit;
  const MpiRows rows = rows_of_messages(all_rows, options.all_backgrounds, fit.notes);
  const detail::KeepRow keep =
      options.filter == RowFilter::robust ? detail::without_interruptions(rows) : detail::KeepRow();
  MpiSamples samples = detail::collect(rows, options, keep);
  if (samples.local.empty() && samples.remote.empty()) {
    fit.reason = "no rows of the operations send, isend, recv or pingpong";
    return fit;
  }
  const Thresholds thresholds = detail::find_thresholds(samples, options, fit.notes);
  std::array<ScopeLines, 2> lines;
  for (const core::Scope scope : scopes)
    if (!samples.scope(scope).empty())
      lines[static_cast<std::size_t>(scope)] = detail::fit_lines(samples.scope(scope), thresholds, options);
  std::array<detail::ScopeCappedCalls, 2> capped{};
  if (options.means) capped = detail::keep_means(rows, options, thresholds.detached_bytes, samples, lines);
  const bool with_cap = options.means && options.filter == RowFilter::robust;
  const auto residuals =
      detail::summarise_residuals(rows, with_cap ? detail::KeepRow() : keep, with_cap ? most_times_expected : infinity,
                                  lines, thresholds.detached_bytes, options.noise);
  std::array<std::optional<core::ScopeModel>, 2> models;
  for (const core::Scope scope : scopes) {
    const auto s = static_cast<std::size_t>(scope);
    if (options.regression.objective == Objective::log && !options.means) make_expectations(residuals[s], lines[s]);
    for (std::size_t o = 0; o < detail::sized_operation_count; ++o) {
      const auto& sized = samples.scope(scope).sized[o];
      if (sized.by_size.rows() + sized.failed + sized.set_aside == 0) continue;
      fit.operations.push_back(report_of(scope, o, sized, lines[s].of[o], residuals[s][o], capped[s][o]));
    }
    models[s] = scope_model(scope, samples.scope(scope), lines[s], residuals[s], thresholds, options, fit);
  }
  if (options.filter == RowFilter::robust) note_interruptions(options.means, fit);
  find_half_duplex(rows, thresholds.detached_bytes, models, fit);
  find_exchange_costs(rows, thresholds.detached_bytes, models, fit);
  const detail::ImportedRows imported = detail::imported_rows(all_rows);
  find_capacities(all_rows, options, imported, models, fit);
  detail::flag_imported(imported, models, fit);
  core::NetworkModel::Values values;
  const auto& local = models[static_cast<std::size_t>(core::Scope::local)];
  values.remote = models[static_cast<std::size_t>(core::Scope::remote)];
  if (!local && !values.remote) return fit;
  if (!local)
    fit.notes.push_back("no usable rows of scope `local`: messages inside a host get the costs of those between hosts");
  values.local = local ? *local : *values.remote;
  if (!local) values.local.capacity.reset();
  values.async_small_bytes = static_cast<std::uint64_t>(thresholds.async_small_bytes);
  values.detached_bytes = static_cast<std::uint64_t>(thresholds.detached_bytes);
  add_probe_costs(samples, options, values, fit);
  values.late_probes = options.late_probes;
  fit.model = with_notes(core::NetworkModel::make(std::move(values)), fit);
  fit.status = NetworkStatus::ok;
  fit.reason.clear();
  return fit;
}

NetworkFit fit_network(const std::vector<core::MpiMeasurement>& rows, const NetworkFitOptions& options) {
  return fit_network(rows_of(rows), options);
}

std::vector<TransferFactors> transfer_factors(const core::ScopeModel& scope) {
  std::vector<TransferFactors> factors;
  for (const core::Segment& s : scope.cost(core::MessageCost::transfer).segments()) {
    constexpr double no_slope = 1e6;  // as core::message_flow() has it
    factors.push_back({s.min_bytes,
                       s.slope_s_per_byte == 0 ? no_slope : 1 / (s.slope_s_per_byte * scope.bandwidth_bytes_per_s),
                       s.intercept_s / scope.latency_s});
  }
  return factors;
}

}  // namespace hplcast::fit
