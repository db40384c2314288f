#include "hplcast/core/power_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hplcast/core/cluster_model.hpp"
#include "tests/core/example_power.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::error_in;

const Hosts two_hosts = Hosts::make({"n-[1-2]", 4, 2, {}, 0});
const CoreState dgemm = state_of(KernelId::dgemm), dtrsm = state_of(KernelId::dtrsm);

PowerModel::Values simple_values() {
  PowerModel::Values values;
  values.idle = 100;
  values.awake = 20;
  values.states = {{"default", 5}, {"polling", 3}};
  return values;
}

std::string error_of(const PowerModel::Values& values) {
  return error_in([&] { PowerModel::make(values); });
}

TEST(CoreStates, HaveNamesThatReadBack) {
  for (int i = 0; i < core_state_count; ++i) {
    const auto state = static_cast<CoreState>(i);
    EXPECT_EQ(core_state_from_name(to_string(state)), state);
    EXPECT_EQ(is_kernel(state), i < kernel_count);
  }
  EXPECT_EQ(core_state_from_name("default"), std::nullopt);
  EXPECT_STREQ(to_string(dgemm), "dgemm");
}

TEST(Watts, AreAPolynomialOfGigahertzOrATableOfStates) {
  EXPECT_EQ(Watts().at(std::nullopt), 0);
  EXPECT_EQ(Watts(7.5).at(std::nullopt), 7.5);
  EXPECT_EQ(Watts::polynomial({1, 2, 3}).at(2e9), 1 + 2 * 2 + 3 * 4);
  const Watts table = Watts::table({{2.3, 1.2}, {93.87, 119.87}});
  EXPECT_EQ(table.at(2.3e9), 93.87);
  EXPECT_EQ(table.at(1.2e9), 119.87);
}

TEST(Watts, AreNeverExtrapolatedOrNegative) {
  const Watts table = Watts::table({{2.3, 1.2}, {93.87, 119.87}});
  EXPECT_THAT(error_in([&] { (void)table.at(2.2e9); }), HasSubstr("`frequency` is 2.2 GHz; expected a state of the "
                                                                  "table of watts: 2.3, 1.2 GHz"));
  EXPECT_THAT(error_in([&] { (void)table.at(std::nullopt); }), HasSubstr("frequency"));
  EXPECT_THAT(error_in([] { (void)Watts::polynomial({1, -1}).at(2e9); }), HasSubstr("-1 W at 2 GHz"));
  EXPECT_THAT(error_in([] { Watts(-1); }), HasSubstr("-1 W"));
  EXPECT_THAT(error_in([] { Watts::polynomial({}); }), HasSubstr("one or more"));
  EXPECT_THAT(error_in([] { Watts::table({{1, 2}, {1}}); }), HasSubstr("2 ghz and 1 w"));
  EXPECT_THAT(error_in([] { Watts::table({{1, 3, 2}, {1, 1, 1}}); }), HasSubstr("not in order"));
  EXPECT_THAT(error_in([] { Watts::table({{1, 2}, {1, -1}}); }), HasSubstr("-1 W"));
}

TEST(HostPower, IsIdleAwakeAndWhatEveryCoreAdds) {
  const PowerModel model = PowerModel::make(simple_values());
  const HostPower power(model, two_hosts, 0);
  EXPECT_EQ(power.watts({}), 100);
  EXPECT_EQ(power.watts({{0, dgemm, 2}, {1, dtrsm, 1}, {1, CoreState::polling, 1}}), 100 + 20 + 3 * 5 + 3);
  EXPECT_EQ(power.watts({{0, dgemm, 0}}), 100) << "no core is active";
  EXPECT_EQ(power.watts({{0, CoreState::blocked, 4}}), 100) << "free waiting leaves a host idle: the published model";
  EXPECT_EQ(power.watts({{0, CoreState::polling, 1}}), 123) << "polling that costs watts keeps it awake";
  EXPECT_THAT(unstated(model), ElementsAre(CoreState::blocked, CoreState::messages));
}

TEST(HostPower, HasTheOverridesOfItsHostAndCpus) {
  const PowerModel model = example_power();
  const HostPower first(model, two_hosts, 0), second(model, two_hosts, 1);
  EXPECT_EQ(first.core_w(0, CoreState::polling), 5.5);
  EXPECT_EQ(first.core_w(1, CoreState::polling), 5);
  EXPECT_EQ(second.core_w(0, CoreState::polling), 6) << "a host goes before a CPU of all hosts";
  EXPECT_EQ(second.core_w(1, CoreState::polling), 7);
  EXPECT_EQ(second.core_w(0, CoreState::blocked), 3);
  EXPECT_EQ(second.core_w(1, CoreState::blocked), 0);
  EXPECT_EQ(first.core_w(0, dtrsm), 6);
  EXPECT_EQ(second.core_w(0, dtrsm), 6.5);
  EXPECT_EQ(second.core_w(0, dgemm), -1 + 2 + 1.5 * 4) << "an override of default is none of dgemm";
  EXPECT_NEAR(second.core_w(1, dgemm), -1 + 1.2 + 1.5 * 1.2 * 1.2, 1e-14) << "its CPU has a frequency of its own";
  EXPECT_EQ(first.idle_w(), 94);
  EXPECT_EQ(second.idle_w(), 99);
  EXPECT_EQ(second.awake_w(), (15 + 10) / 2.0) << "the mean over the CPUs";
  EXPECT_EQ(model.off_w(0), 8);
  EXPECT_EQ(model.off_w(1), 9);
  EXPECT_EQ(first.watts({}), 94 / 0.9);
}

TEST(HostPower, CanBeAskedForAnotherFrequencyOfTheModelOnly) {
  const PowerModel model = example_power();
  EXPECT_EQ(HostPower(model, two_hosts, 0, 2.3e9).awake_w(), 17);
  EXPECT_THAT(error_in([&] { HostPower(model, two_hosts, 0, 2.1e9); }), HasSubstr("2.1 GHz"));
  PowerModel::Values values = simple_values();
  values.idle = Watts::polynomial({10, 1});
  values.frequency = FrequencyModel{2e9, {}, 1.2e9, 2.3e9, {}};
  const PowerModel range = PowerModel::make(values);
  EXPECT_EQ(HostPower(range, two_hosts, 0, 2.25e9).idle_w(), 12.25);
  EXPECT_THAT(error_in([&] { HostPower(range, two_hosts, 0, 2.4e9); }), HasSubstr("2.4 GHz"));
}

TEST(FrequencyModel, TellsWhatShareOfAKernelGoesWithTheClock) {
  const PowerModel model = example_power();
  const FrequencyModel& frequency = *model.values().frequency;
  const double f0 = frequency.scaling_hz.value_or(frequency.hz);
  EXPECT_NEAR(frequency.time_factor(KernelId::dgemm, f0, f0 / 2), 1 + 0.95, 1e-15);
  EXPECT_NEAR(frequency.time_factor(KernelId::dtrsm, f0, f0 / 2), 1 + 0.5, 1e-15);
  FrequencyModel without_shares;
  without_shares.hz = 2e9;
  EXPECT_NEAR(without_shares.time_factor(KernelId::dtrsm, 2e9, 1e9), 2, 1e-15);
}

TEST(PowerModel, OfFourNumbersIsThePublishedModel) {
  const PowerModel model = power_from_loads({{std::nullopt, 94.75, 118.75, 210.5, 10}}, 12);
  const HostPower power(model, Hosts::make({"taurus-8", 12, 2, {}, 0}), 0);
  EXPECT_NEAR(power.watts({{0, dgemm, 1}}), 118.75, 1e-12) << "one fully busy core";
  EXPECT_NEAR(power.watts({{0, dgemm, 6}, {1, dtrsm, 6}}), 210.5, 1e-12);
  EXPECT_EQ(power.watts({{0, CoreState::polling, 12}}), 94.75);
  const HostPower one_core(power_from_loads({{std::nullopt, 50, 80, 80, 0}}, 1), Hosts(), 0);
  EXPECT_EQ(one_core.watts({{0, dgemm, 1}}), 80);
  EXPECT_EQ(one_core.awake_w(), 0);
}

TEST(PowerModel, OfFourNumbersPerStateHasTables) {
  const PowerModel model = power_from_loads({{2.3, 95, 117, 180, 10}, {1.2, 95, 107, 126, 10}}, 12);
  EXPECT_EQ(model.values().frequency->hz, 2.3e9);
  const HostPower slow(model, Hosts::make({"n", 12, 2, {}, 0}), 0, 1.2e9);
  EXPECT_NEAR(slow.watts({{0, dgemm, 12}}), 126, 1e-12);
  EXPECT_THAT(error_in([] {
                power_from_loads({{2.3, 95, 117, 180, 10}, {{}, 95, 107, 126, 10}}, 12);
              }),
              HasSubstr("missing"));
}

TEST(PowerModel, RefusesFourNumbersThatCannotBe) {
  const auto error = [](LoadWatts load) { return error_in([&] { power_from_loads({load}, 4); }); };
  EXPECT_THAT(error({{}, 100, 110, 200, 0}),
              HasSubstr("expected at least 130: idle_w and what one of the other cores"));
  EXPECT_THAT(error({{}, 100, 130, 120, 0}), HasSubstr("at least one_core_w"));
  EXPECT_THAT(error({{}, -1, 130, 200, 0}), HasSubstr("-1 W"));
}

TEST(PowerModel, TellsSimGridWhatItsPluginCanSay) {
  // Node 8 of taurus in HPL: epsilon = one - (all - one)/11 = 118.75 - 8.3409...
  const PowerModel model = power_from_loads({{std::nullopt, 94.75, 118.75, 210.5, 10}}, 12);
  const SimgridWattage watts = simgrid_wattage(model, Hosts::make({"n", 12, 2, {}, 0}), 0);
  EXPECT_EQ(watts.idle_w, 94.75);
  EXPECT_NEAR(watts.epsilon_w, 118.75 - (210.5 - 118.75) / 11, 1e-9);  // rounded to that
  EXPECT_EQ(watts.all_cores_w, 210.5);
  EXPECT_EQ(watts.off_w, 10);
  const SimgridWattage fast = simgrid_wattage(example_power(), two_hosts, 0, 2.3e9);
  EXPECT_NEAR(fast.epsilon_w, (90 + 4.6 + 17) / 0.9, 1e-9);
  EXPECT_NEAR(fast.all_cores_w, (90 + 4.6 + 17 + 4 * 6) / 0.9, 1e-9) << "all kernels add `default`";
}

TEST(PowerModel, TellsSimGridTheOtherStatesOfAHostBesideItsOwn) {
  PowerModel::Values values = simple_values();
  values.idle = Watts::polynomial({0, 100});
  values.awake = 0;
  values.states = {{"default", 0}};
  values.frequency = FrequencyModel{1.2e9, {2.4e9, 1.2e9}, {}, {}, {}};
  PowerOverride fast;
  fast.host = 1;
  fast.hz = 2.4e9;
  values.overrides = {fast};
  const PowerModel model = PowerModel::make(values);
  const SimgridPstates of_cluster = simgrid_pstates(model, two_hosts, 0), own = simgrid_pstates(model, two_hosts, 1);
  EXPECT_THAT(of_cluster.speeds, ElementsAre(1, 2));
  EXPECT_EQ(of_cluster.wattage_per_state, "120:120:120,240:240:240");
  EXPECT_THAT(own.speeds, ElementsAre(1, 0.5));
  EXPECT_EQ(own.wattage_per_state, "240:240:240,120:120:120");
}

TEST(PowerModel, RefusesWhatCannotBe) {
  const auto changed = [](auto change) {
    PowerModel::Values values = simple_values();
    change(values);
    return error_of(values);
  };
  EXPECT_THAT(changed([](auto& v) { v.states.erase("default"); }), HasSubstr("power.states.default"));
  EXPECT_THAT(changed([](auto& v) { v.states["dgem"] = 1; }), HasSubstr("did you mean `dgemm`"));
  EXPECT_THAT(changed([](auto& v) { v.idle = Watts::polynomial({1, 1}); }), HasSubstr("power.idle_w"));
  EXPECT_THAT(changed([](auto& v) { v.supply_efficiency = 1.1; }), HasSubstr("supply_efficiency"));
  EXPECT_THAT(changed([](auto& v) { v.supply_efficiency = 0; }), HasSubstr("supply_efficiency"));
  EXPECT_THAT(changed([](auto& v) { v.network_w = -1; }), HasSubstr("network_w"));
  EXPECT_THAT(changed([](auto& v) { v.caps.cpu_w = 0; }), HasSubstr("caps.cpu_w"));
  EXPECT_THAT(changed([](auto& v) { v.off_w = -1; }), HasSubstr("off_w"));
  EXPECT_THAT(changed([](auto& v) { v.overrides.emplace_back(); }), HasSubstr("without host and cpu"));
  EXPECT_THAT(changed([](auto& v) {
                v.frequency = FrequencyModel{2e9, {1e9, 3e9}, {}, {}, {}};
              }),
              HasSubstr("frequency.hz"));
  EXPECT_THAT(changed([](auto& v) {
                v.frequency = FrequencyModel{2e9, {2e9, 1e9, 3e9}, {}, {}, {}};
              }),
              HasSubstr("not in order"));
  EXPECT_THAT(changed([](auto& v) { v.frequency = FrequencyModel{2e9, {}, 1e9, {}, {}}; }), HasSubstr("both or none"));
  EXPECT_THAT(changed([](auto& v) {
                v.frequency = FrequencyModel{2e9, {}, {}, {}, {{"dgemm", 1.5}}};
              }),
              HasSubstr("frequency.scaling.dgemm"));
  EXPECT_THAT(changed([](auto& v) {
                v.frequency = FrequencyModel{2e9, {}, {}, {}, {{"polling", 1}}};
              }),
              HasSubstr("frequency.scaling"));
  EXPECT_THAT(changed([](auto& v) {
                v.states["dgemm"] = Watts::polynomial({-2.5, 1});
                v.frequency = FrequencyModel{3e9, {}, 2e9, 3e9, {}};
              }),
              HasSubstr("power.states.dgemm"))
      << "negative only at the slow end of the range";
  EXPECT_THAT(changed([](auto& v) {
                v.awake = Watts::table({{2}, {10}});
                v.frequency = FrequencyModel{2e9, {2e9, 1e9}, {}, {}, {}};
              }),
              HasSubstr("power.awake_w"))
      << "a table that lacks a state";
  const auto set_later = [&](const FrequencyModel& frequency) {
    return changed([&](auto& v) {
      v.awake = Watts::table({{2, 1}, {10, 5}});
      v.frequency = frequency;
    });
  };
  FrequencyModel range{2e9, {}, 1e9, 3e9, {}};
  range.schedules = {FrequencySchedule{"", {}, {}, {0.05}, {1e9}}};
  range.controllers = {PowerController{"", {}, 500, 1, 1e9}};
  EXPECT_EQ(set_later(range), "");
  range.controllers.front().step_hz = 5e8;
  EXPECT_THAT(set_later(range), HasSubstr("1.5 GHz")) << "a step that the table lacks";
  range.controllers.clear();
  range.schedules.front().hz = {1.5e9};
  EXPECT_THAT(set_later(range), HasSubstr("1.5 GHz"));
}

TEST(PowerModel, RefusesOverridesThatCannotBe) {
  const auto error = [](auto change) {
    PowerModel::Values values = simple_values();
    PowerOverride one;
    change(one);
    values.overrides = {one};
    return error_of(values);
  };
  EXPECT_THAT(error([](auto& o) { o.cpu = 1, o.idle = 3; }), HasSubstr("only for whole hosts"));
  EXPECT_THAT(error([](auto& o) { o.host = 1, o.hz = 2e9; }), HasSubstr("power.frequency beside it"));
  EXPECT_THAT(error([](auto& o) { o.host = 1, o.states["x"] = 1; }), HasSubstr("a state of power"));
  PowerModel::Values values = simple_values();
  PowerOverride one;
  one.host = 2;
  values.overrides = {one};
  EXPECT_THAT(error_in([&] { check_power(PowerModel::make(values), two_hosts); }), HasSubstr("hosts below 2"));
  values.overrides = {one, one};
  EXPECT_THAT(error_of(values), HasSubstr("twice"));
}

TEST(PowerModel, OfOlderFilesBecomesOneOfTodayAndStaysIt) {
  std::ifstream file(std::string(HPLCAST_SOURCE_DIR) + "/tests/core/four_watts.json");
  const ClusterModel old = read_cluster(file, "four_watts.json");
  ASSERT_TRUE(old.power.has_value());
  const SimgridWattage watts = simgrid_wattage(*old.power, old.hosts, 0);
  EXPECT_EQ(watts.idle_w, 100);
  EXPECT_NEAR(watts.epsilon_w, 130 - 70 / 3.0, 1e-9);
  EXPECT_EQ(watts.all_cores_w, 200);
  std::ostringstream first;
  write_cluster(first, old);
  EXPECT_THAT(first.str(), HasSubstr("\"schema_version\": 4"));
  std::istringstream again(first.str());
  std::ostringstream second;
  write_cluster(second, read_cluster(again, "c.json"));
  EXPECT_EQ(second.str(), first.str());
}

FrequencySchedule schedule(std::vector<double> at_s, std::vector<double> hz) {
  FrequencySchedule one;
  one.at_s = std::move(at_s);
  one.hz = std::move(hz);
  return one;
}

TEST(FrequencySchedule, HoldsFromAnInstantToTheNext) {
  FrequencySchedule one = schedule({3, 5}, {2e9, 1e9});
  const auto at = [&](double time_s) { return scheduled_frequency({&one}, 1.5e9, time_s); };
  EXPECT_EQ(at(0).hz, 1.5e9);
  EXPECT_EQ(at(0).until_s, 3);
  EXPECT_EQ(at(3).hz, 2e9);
  EXPECT_EQ(at(4.9).until_s, 5);
  EXPECT_EQ(at(5).hz, 1e9);
  EXPECT_TRUE(std::isinf(at(1e9).until_s));
  // Of two that have set something the lower one holds.
  const FrequencySchedule other = schedule({4}, {1.8e9});
  EXPECT_EQ(scheduled_frequency({&one, &other}, 1.5e9, 3.5).until_s, 4);
  EXPECT_EQ(scheduled_frequency({&one, &other}, 1.5e9, 4).hz, 1.8e9);
  EXPECT_EQ(scheduled_frequency({&one, &other}, 1.5e9, 6).hz, 1e9);
}

TEST(FrequencySchedule, ComesAgainEveryPeriodWithoutARoundingThatLosesAnInstant) {
  FrequencySchedule duty = schedule({0.1, 0.3}, {2e9, 1e9});
  duty.period_s = 0.7;
  double time_s = 0;
  EXPECT_EQ(scheduled_frequency({&duty}, 1.5e9, 0).hz, 1.5e9);
  time_s = scheduled_frequency({&duty}, 1.5e9, 0).until_s;
  for (int change = 0; change < 100'000; ++change) {
    const FrequencyUntil now = scheduled_frequency({&duty}, 1.5e9, time_s);
    ASSERT_EQ(now.hz, change % 2 == 0 ? 2e9 : 1e9) << change;
    ASSERT_NEAR(now.until_s - time_s, change % 2 == 0 ? 0.2 : 0.5, 1e-10) << "dates of up to 35,000 s";
    time_s = now.until_s;
  }
}

TEST(FrequencySchedule, AndControllersAreChecked) {
  const Hosts hosts = Hosts::make({"n-[1-4]", 4, 2, {}, 0});
  PowerModel::Values values;
  values.idle = 50;
  values.awake = 10;
  values.states["default"] = Watts::polynomial({0, 2});
  values.frequency = FrequencyModel{2e9, {2e9, 1e9}, {}, {}, {}};
  const auto error = [&](const auto& edit) {
    PowerModel::Values wrong = values;
    edit(*wrong.frequency);
    return error_in([&] { check_power(PowerModel::make(wrong), hosts); });
  };
  const auto of_schedule = [&](FrequencySchedule one) {
    return error([&](FrequencyModel& frequency) { frequency.schedules = {std::move(one)}; });
  };
  FrequencySchedule named = schedule({0}, {1e9}), cpu = named, period = schedule({0, 5}, {1e9, 2e9});
  EXPECT_EQ(of_schedule(named), "");
  named.hosts = "n-[3-5]";
  cpu.cpu = 2;
  period.period_s = 5;
  EXPECT_THAT(of_schedule(named), HasSubstr("n-5"));
  EXPECT_THAT(of_schedule(cpu), HasSubstr("below the 2 CPUs of n-1"));
  EXPECT_THAT(of_schedule(period), HasSubstr("below period_s, 5"));
  EXPECT_THAT(of_schedule(schedule({3, 2}, {1e9, 2e9})), HasSubstr("2 s after 3 s"));
  EXPECT_THAT(of_schedule(schedule({-1}, {1e9})), HasSubstr("at least 0"));
  EXPECT_THAT(of_schedule(schedule({1, 2}, {1e9})), HasSubstr("2 instants, and 1 hz"));
  EXPECT_THAT(of_schedule(schedule({1}, {1.5e9})), HasSubstr("a frequency that power.frequency has"));
  const auto of_controller = [&](PowerController one) {
    return error([&](FrequencyModel& frequency) { frequency.controllers = {std::move(one)}; });
  };
  PowerController good;
  good.hosts_per_group = 2;
  good.cap_w = 2 * (60 + 4 * 2 * 1);
  good.period_s = 1;
  EXPECT_EQ(of_controller(good), "") << "two hosts at 1 GHz, exactly";
  PowerController low = good, still = good, step = good, none = good;
  low.cap_w -= 0.1;
  still.period_s = 0;
  step.step_hz = 1e8;
  none.hosts_per_group = 0;
  EXPECT_THAT(of_controller(low), HasSubstr("at least 136 W"));
  EXPECT_THAT(of_controller(still), HasSubstr("period_s"));
  EXPECT_THAT(of_controller(step), HasSubstr("they are the steps"));
  EXPECT_THAT(of_controller(none), HasSubstr("at least 1"));
  EXPECT_THAT(error([&](FrequencyModel& frequency) { frequency.controllers = {good, good}; }), HasSubstr("n-1 twice"));
  values.frequency->states_hz = {};
  EXPECT_THAT(of_controller(good), HasSubstr("no frequencies that can be set"));
}

TEST(FrequencyModel, StepsGoDownFromWhereItIs) {
  const FrequencyModel states{2e9, {1e9, 1.5e9, 2e9, 2.5e9}, {}, {}, {}};
  EXPECT_THAT(states.steps_below(2e9, {}), testing::ElementsAre(2e9, 1.5e9, 1e9));
  const FrequencyModel range{2e9, {}, 1e9, 2.5e9, {}};
  EXPECT_THAT(range.steps_below(2e9, 4e8), testing::ElementsAre(2e9, 1.6e9, 1.2e9, 1e9));
  EXPECT_EQ(range.steps_below(2e9, {}).size(), 11U) << "steps of 100 MHz";
}

}  // namespace
}  // namespace hplcast::core
