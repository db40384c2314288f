#include "hplcast/core/measurement.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"

namespace hplcast::core {

namespace {

/// Nothing where it is not known.
std::string known(double value) {
  return value > 0 ? shortest(value) : "";
}

struct Columns {
  const CsvReader& csv;
  std::size_t host = csv.column("host"), sensor = csv.column("sensor"), domain = csv.column("domain"),
              power = csv.column("power_w"), state = csv.column("state"), active = csv.column("active_cores"),
              cores = csv.column("cores"), used = csv.column("used");
  std::size_t time = csv.find_column("time_s"), covered = csv.find_column("covered_s"),
              piece = csv.find_column("piece"), frequency = csv.find_column("frequency_hz"),
              limit = csv.find_column("limit_w");
};

bool is_used(const CsvReader& csv, std::size_t column) {
  const std::string_view text = csv.text(column);
  if (text != "0" && text != "1")
    throw ParseError(csv.at(column), "found \"" + std::string(text.substr(0, 40)) + "\"; expected 0 or 1");
  return text == "1";
}

PowerSample sample_of(const Columns& columns) {
  const CsvReader& csv = columns.csv;
  PowerSample sample;
  sample.host = csv.text(columns.host);
  sample.sensor = csv.text(columns.sensor);
  sample.domain = csv.made(columns.domain, from_name<PowerDomain>);
  sample.power_w = csv.positive(columns.power);
  sample.state = csv.text(columns.state);
  if (sample.state.empty()) throw ParseError(csv.at(columns.state), "found nothing; expected idle, polling, dgemm ...");
  sample.active_cores = csv.integer(columns.active, 0, 1000000);
  sample.cores = csv.integer(columns.cores, 1, 1000000);
  if (sample.active_cores > sample.cores)
    throw ParseError(csv.at(columns.active), "found " + std::to_string(sample.active_cores) +
                                                 "; expected at most the " + std::to_string(sample.cores) +
                                                 " cores of the host");
  if ((sample.state == "idle") != (sample.active_cores == 0))
    throw ParseError(csv.at(columns.active), "found " + std::to_string(sample.active_cores) + " in the state " +
                                                 sample.state + "; expected 0 active cores if and only if it is idle");
  if (columns.time != CsvReader::npos) sample.time_s = csv.number(columns.time);
  sample.covered_s = csv.non_negative_or(0, columns.covered);
  sample.piece = static_cast<long>(csv.non_negative_or(0, columns.piece));
  sample.frequency_hz = csv.non_negative_or(0, columns.frequency);
  constexpr double least_hz = 1e7, most_hz = 1e11;
  if (sample.frequency_hz > 0 && !(sample.frequency_hz >= least_hz && sample.frequency_hz <= most_hz))
    throw ParseError(csv.at(columns.frequency),
                     "found " + std::string(csv.text(columns.frequency)) + "; expected 1e7 to 1e11 Hz",
                     "frequencies of /sys are in kHz");
  sample.limit_w = csv.non_negative_or(0, columns.limit);
  sample.used = is_used(csv, columns.used);
  return sample;
}

/// The longest time between two values of moments that a straight line may join.
double longest_join(const std::vector<PowerSample>& samples) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < samples.size(); ++i) steps.push_back(samples[i].time_s - samples[i - 1].time_s);
  return steps.empty() ? 0 : 3 * upper_median(std::move(steps));
}

/// Adds the straight line from `a` to `b`, as far as it is in [begin, end].
void add_line(const PowerSample& a, const PowerSample& b, double begin_s, double end_s, MeasuredEnergy& sum,
              double& covered_s) {
  const double from = std::max(a.time_s, begin_s), to = std::min(b.time_s, end_s);
  if (to <= from) return;
  const double slope = (b.power_w - a.power_w) / (b.time_s - a.time_s);
  sum.energy_j += (a.power_w + slope * ((from + to) / 2 - a.time_s)) * (to - from);
  covered_s += to - from;
}

}  // namespace

const char* const power_csv_header =
    "host,sensor,domain,time_s,covered_s,power_w,piece,state,active_cores,cores,frequency_hz,limit_w,used";

void write_row(std::ostream& out, const PowerSample& s) {
  const std::string time = printed("%.6f", s.time_s);  // Unix times have ten digits before the point
  out << csv_field(s.host) << ',' << csv_field(s.sensor) << ',' << to_string(s.domain) << ',' << time << ','
      << known(s.covered_s) << ',' << shortest(s.power_w) << ',' << s.piece << ',' << s.state << ',' << s.active_cores
      << ',' << s.cores << ',' << known(s.frequency_hz) << ',' << known(s.limit_w) << ',' << (s.used ? 1 : 0) << '\n';
}

std::vector<PowerSample> read_power_csv(std::istream& in, const std::string& name) {
  CsvReader csv(in, name);
  csv.refuse_misspelt({"host", "sensor", "domain", "time_s", "covered_s", "power_w", "piece", "state", "active_cores",
                       "cores", "frequency_hz", "limit_w", "used"});
  const Columns columns{csv};
  std::vector<PowerSample> samples;
  while (csv.next()) samples.push_back(sample_of(columns));
  return samples;
}

std::vector<SeenSensor> seen_sensors(const std::vector<PowerSample>& samples) {
  std::map<std::string, SeenSensor> seen;
  for (const PowerSample& sample : samples) {
    SeenSensor& sensor = seen[sample.sensor];
    sensor.name = sample.sensor;
    sensor.domain = sample.domain;
    ++sensor.samples;
  }
  std::vector<SeenSensor> sensors;
  for (auto& [name, sensor] : seen) sensors.push_back(std::move(sensor));
  return sensors;
}

std::vector<std::string> sensors_of_host(const std::vector<SeenSensor>& sensors) {
  const SeenSensor* whole = nullptr;
  std::vector<std::string> parts;
  bool has_package = false;
  for (const SeenSensor& sensor : sensors) {
    if (sensor.domain == PowerDomain::host && (whole == nullptr || sensor.samples > whole->samples)) whole = &sensor;
    has_package = has_package || sensor.domain == PowerDomain::package;
    if (sensor.domain == PowerDomain::package || sensor.domain == PowerDomain::dram) parts.push_back(sensor.name);
  }
  if (whole != nullptr) return {whole->name};
  if (!has_package) return {};  // memory alone is not a host
  return parts;
}

MeasuredEnergy energy_between(const std::vector<PowerSample>& samples, double begin_s, double end_s) {
  MeasuredEnergy sum;
  double covered_s = 0;
  const double longest_s = longest_join(samples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const PowerSample& sample = samples[i];
    if (sample.time_s >= begin_s && sample.time_s - sample.covered_s <= end_s) ++sum.samples;
    if (sample.covered_s > 0) {
      const double time_s = std::min(sample.time_s, end_s) - std::max(sample.time_s - sample.covered_s, begin_s);
      if (time_s <= 0) continue;
      sum.energy_j += sample.power_w * time_s;
      covered_s += time_s;
    } else if (i + 1 < samples.size() && samples[i + 1].time_s - sample.time_s <= longest_s) {
      add_line(sample, samples[i + 1], begin_s, end_s, sum, covered_s);
    }
  }
  if (covered_s <= 0 || end_s <= begin_s) return {0, 0, sum.samples};
  sum.covered = std::min(1.0, covered_s / (end_s - begin_s));
  sum.energy_j *= (end_s - begin_s) / covered_s;
  return sum;
}

}  // namespace hplcast::core
