#include "hplcast/calibration/power_design.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr double between_s = 0.1;  // to agree on the next piece, and set a frequency

void validate(const PowerDesignOptions& options, int cores) {
  const auto& known = power_states();
  for (const std::string& state : options.states)
    if (std::find(known.begin(), known.end(), state) == known.end())
      throw core::DomainError("state", state, "one of " + core::comma_separated(known));
  if (std::set<std::string>(options.states.begin(), options.states.end()).size() != options.states.size())
    throw core::DomainError("states", "there twice", "each state once");
  for (const int count : options.counts)
    core::require(count >= 1 && count <= cores, "number of active cores", count,
                  "1 to " + std::to_string(cores) + ", the ranks of a host");
  core::require(options.repetitions >= 1 && options.repetitions <= 100000, "repetitions", options.repetitions,
                "at least 1, at most 100000");
  core::require(options.piece_s >= 1 && options.piece_s <= 1e5, "length of a piece", options.piece_s, "1 s to 1e5 s");
  core::require(options.warm_up_s >= 0 && options.warm_up_s <= 1e5, "warm-up", options.warm_up_s, "0 to 1e5 s");
  for (const double hz : options.frequencies_hz)
    if (!(hz > 0)) throw core::DomainError("frequency", hz, "above 0");
}

/// Counts that the state can have, ascending.
std::set<int> counts_of(const std::string& state, const std::vector<int>& wanted, int cores) {
  std::set<int> counts;
  for (int count : wanted) {
    if (state == "blocked") count = std::min(count, cores - 1);
    if (state == "messages") count = std::min(count + count % 2, cores - cores % 2);
    if (count > 0) counts.insert(count);
  }
  return counts;
}

/// Empty: the frequency is left alone.
std::string frequency_text(const PowerPiece& piece) {
  return piece.frequency_hz > 0 ? core::shortest(piece.frequency_hz) : "";
}

}  // namespace

const std::vector<std::string>& power_states() {
  static const std::vector<std::string> states = {"dgemm",  "dtrsm",   "dgemv",   "dger",    "dtrsv",
                                                  "daxpy",  "dscal",   "dswap",   "dcopy",   "idamax",
                                                  "dlacpy", "dlatcpy", "polling", "blocked", "messages"};
  return states;
}

std::vector<PowerPiece> make_power_design(const PowerDesignOptions& options, int cores) {
  validate(options, cores);
  std::vector<int> counts = options.counts;
  if (counts.empty()) counts = {1, std::max(1, cores / 4), std::max(1, cores / 2), cores};
  std::vector<double> frequencies = options.frequencies_hz;
  if (frequencies.empty()) frequencies = {0};
  std::vector<PowerPiece> once;
  for (const double hz : frequencies) {
    once.push_back({0, "idle", 0, hz, options.piece_s, 1});
    for (const std::string& state : options.states)
      for (const int count : counts_of(state, counts, cores)) once.push_back({0, state, count, hz, options.piece_s, 1});
  }
  std::vector<PowerPiece> design;
  if (options.warm_up_s > 0) design.push_back({0, "dgemm", cores, 0, options.warm_up_s, 0});
  core::RandomStream random({options.seed, core::stream_design, 0, 2, 0});
  long number = 0;
  for (int repetition = 1; repetition <= options.repetitions; ++repetition) {
    std::vector<PowerPiece> pieces = once;
    core::shuffle(pieces, random);
    for (PowerPiece& piece : pieces) {
      piece.repetition = repetition;
      piece.number = ++number;
      design.push_back(piece);
    }
  }
  return design;
}

void write_design(std::ostream& out, const std::vector<PowerPiece>& design) {
  out << "piece,state,active_cores,frequency_hz,duration_s,repetition\n";
  for (const PowerPiece& piece : design)
    out << piece.number << ',' << piece.state << ',' << piece.active_cores << ',' << frequency_text(piece) << ','
        << core::shortest(piece.duration_s) << ',' << piece.repetition << '\n';
}

double estimated_s(const std::vector<PowerPiece>& design) {
  double sum_s = 0;
  for (const PowerPiece& piece : design) sum_s += piece.duration_s + between_s;
  return sum_s;
}

void write_pieces(std::ostream& out, const std::vector<PieceRun>& pieces) {
  out << "host,piece,state,active_cores,cores,frequency_hz,begin_s,end_s\n";
  for (const PieceRun& run : pieces)
    out << core::csv_field(run.host) << ',' << run.piece.number << ',' << run.piece.state << ','
        << run.piece.active_cores << ',' << run.cores << ',' << frequency_text(run.piece)
        << core::printed(",%.6f,%.6f\n", run.begin_s, run.end_s);
}

std::vector<PieceRun> read_pieces(std::istream& in, const std::string& name) {
  core::CsvReader csv(in, name);
  csv.refuse_unknown({"host", "piece", "state", "active_cores", "cores", "frequency_hz", "begin_s", "end_s"});
  const std::size_t host = csv.column("host"), piece = csv.column("piece"), state = csv.column("state"),
                    active = csv.column("active_cores"), cores = csv.column("cores"), begin = csv.column("begin_s"),
                    end = csv.column("end_s"), frequency = csv.find_column("frequency_hz");
  std::vector<PieceRun> pieces;
  std::map<std::string, double> last_end_s;
  while (csv.next()) {
    PieceRun run;
    run.host = csv.text(host);
    run.piece.number = csv.integer(piece, 0);
    run.piece.state = csv.text(state);
    run.piece.active_cores = csv.integer(active, 0);
    run.cores = csv.integer(cores, 1);
    if (csv.has(frequency)) run.piece.frequency_hz = csv.positive(frequency);
    run.begin_s = csv.number(begin);
    run.end_s = csv.number(end);
    if (!(run.end_s > run.begin_s))
      throw core::ParseError(csv.at(end), "found " + core::shortest(run.end_s) + "; expected a time after begin_s");
    const auto [before, is_first] = last_end_s.emplace(run.host, run.end_s);
    if (!is_first && run.begin_s < before->second)
      throw core::ParseError(csv.at(begin), "found " + core::shortest(run.begin_s) +
                                                "; expected a time after the end of the piece before");
    before->second = run.end_s;
    run.piece.duration_s = run.end_s - run.begin_s;
    pieces.push_back(std::move(run));
  }
  if (pieces.empty()) throw core::ParseError({name, 0, ""}, "no pieces in it");
  return pieces;
}

std::vector<core::PowerSample> place_samples(std::vector<core::PowerSample> samples,
                                             const std::vector<PieceRun>& pieces, const SetAside& aside) {
  std::vector<core::PowerSample> placed;
  std::size_t at = 0;
  for (core::PowerSample& sample : samples) {
    if (pieces.empty() || sample.time_s < pieces.front().begin_s || sample.time_s > pieces.back().end_s) continue;
    while (at + 1 < pieces.size() && pieces[at + 1].begin_s <= sample.time_s) ++at;
    const PieceRun& run = pieces[at];
    sample.host = run.host;
    sample.piece = run.piece.number;
    sample.state = run.piece.state;
    sample.active_cores = run.piece.active_cores;
    sample.cores = run.cores;
    if (!(sample.frequency_hz > 0)) sample.frequency_hz = run.piece.frequency_hz;
    sample.used = run.piece.number > 0 && sample.time_s - sample.covered_s >= run.begin_s + aside.begin_s &&
                  sample.time_s <= run.end_s - aside.end_s;
    placed.push_back(std::move(sample));
  }
  return placed;
}

}  // namespace hplcast::calibration
