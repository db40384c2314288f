#include "hplcast/calibration/power_pieces.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

std::string moment(double time_s) {
  return core::printed("%.6f", time_s);
}

}  // namespace

void write_pieces(std::ostream& out, const std::vector<PieceRun>& pieces) {
  out << "host,piece,state,active_cores,cores,frequency_hz,begin_s,end_s\n";
  for (const PieceRun& run : pieces)
    out << core::csv_field(run.host) << ',' << run.piece.number << ',' << run.piece.state << ','
        << run.piece.active_cores << ',' << run.cores << ','
        << (run.piece.frequency_hz > 0 ? core::shortest(run.piece.frequency_hz) : "") << ',' << moment(run.begin_s)
        << ',' << moment(run.end_s) << '\n';
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
    run.piece.number = static_cast<long>(csv.non_negative(piece));
    run.piece.state = csv.text(state);
    run.piece.active_cores = static_cast<int>(csv.non_negative(active));
    run.cores = static_cast<int>(csv.positive(cores));
    if (frequency != core::CsvReader::npos && !csv.text(frequency).empty())
      run.piece.frequency_hz = csv.positive(frequency);
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
