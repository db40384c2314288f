#include "hplcast/calibration/power_meter.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

/// A counter of energy that has not moved for so long stands still: the slowest that are known count ten times per
/// second (Cray), and the least that a running host draws is more than a count.
constexpr double still_s = 3;
/// More than any host draws: a counter that goes back was not wrapped but reset.
constexpr double most_w = 20000;

class CounterMeter : public PowerMeter {
 public:
  CounterMeter(std::string name, core::PowerDomain domain, CounterValue counter, double range_j,
               std::optional<double> limit_w)
      : PowerMeter(std::move(name), domain), counter_(std::move(counter)), range_j_(range_j), limit_w_(limit_w) {}

  std::optional<double> limit_w() const override { return limit_w_; }

  std::optional<PowerReading> read(double time_s) override {
    const std::optional<double> value = counter_();
    if (!value) {
      if (last_) lose("vanished while it was read");
      last_.reset();
      return std::nullopt;
    }
    if (!last_) {
      restart(*value, time_s);
      return std::nullopt;
    }
    const double past_s = time_s - last_s_;
    if (past_s <= 0) return std::nullopt;
    if (*value == *last_) {
      if (past_s >= still_s) trouble(core::printed("its counter stands still, for %.0f s and more", still_s));
      return std::nullopt;
    }
    const double used_j = *value > *last_ ? *value - *last_ : *value + range_j_ - *last_;
    restart(*value, time_s);
    if (used_j <= 0 || used_j > most_w * past_s) {
      trouble(core::printed("its counter jumped by %.3g J, which is no power of a host: it was reset", used_j));
      return std::nullopt;
    }
    return PowerReading{used_j / past_s, past_s};
  }

 private:
  void restart(double value, double time_s) {
    last_ = value;
    last_s_ = time_s;
  }

  CounterValue counter_;
  double range_j_;
  std::optional<double> limit_w_;
  std::optional<double> last_;
  double last_s_ = 0;
};

class GaugeMeter : public PowerMeter {
 public:
  GaugeMeter(std::string name, core::PowerDomain domain, std::function<std::optional<double>()> watts)
      : PowerMeter(std::move(name), domain), watts_(std::move(watts)) {}

  std::optional<PowerReading> read(double) override {
    const std::optional<double> value = watts_();
    if (!value) {
      if (was_there_) lose("vanished while it was read");
      return std::nullopt;
    }
    was_there_ = true;
    if (*value <= 0 || *value > most_w) {
      trouble(core::printed("said %g W, which is no power of a host", *value));
      return std::nullopt;
    }
    return PowerReading{*value, 0};
  }

 private:
  std::function<std::optional<double>()> watts_;
  bool was_there_ = false;
};

}  // namespace

void PowerMeter::trouble(const std::string& what) {
  if (std::find(troubles_.begin(), troubles_.end(), what) == troubles_.end()) troubles_.push_back(what);
}

std::unique_ptr<PowerMeter> counter_meter(std::string name, core::PowerDomain domain, CounterValue counter,
                                          double range_j, std::optional<double> limit_w) {
  return std::make_unique<CounterMeter>(std::move(name), domain, std::move(counter), range_j, limit_w);
}

std::unique_ptr<PowerMeter> gauge_meter(std::string name, core::PowerDomain domain,
                                        std::function<std::optional<double>()> watts) {
  return std::make_unique<GaugeMeter>(std::move(name), domain, std::move(watts));
}

std::string describe(const std::vector<LookedFor>& looked_for) {
  std::string text;
  for (const LookedFor& one : looked_for) text += "\n  " + one.what + ": " + one.found;
  return text;
}

std::vector<std::string> require_host_power(const PowerMeters& meters, const std::string& host) {
  std::vector<core::SeenSensor> seen;
  for (const auto& meter : meters.meters) seen.push_back({meter->name(), meter->domain(), 1});
  std::vector<std::string> sensors = core::sensors_of_host(seen);
  if (!sensors.empty()) return sensors;
  throw core::Error(core::ExitCode::bad_input,
                    host + ": no sensor that tells the power of the host can be read; looked for" +
                        describe(meters.looked_for) +
                        "\n  hint: a wattmeter's CSV needs no sensor (--meter); docs/use/power-measuring.md has the "
                        "permissions");
}

}  // namespace hplcast::calibration
