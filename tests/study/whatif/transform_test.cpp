#include "hplcast/study/transform.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "study/whatif/cluster_changes.hpp"
#include "tests/study/whatif/dahu_like.hpp"

namespace hplcast::study {
namespace {

TEST(Transform, LeavesTheClusterAloneForTheArgumentNone) {
  const auto cluster = dahu_like();
  for (const TransformationInfo& info : transformations()) {
    EXPECT_EQ(core::cluster_sha256(transformed(cluster, {{info.name, "none"}})), core::cluster_sha256(cluster))
        << info.name;
  }
}

TEST(Transform, ScalesTheRoutinesOfAnObservedProgramToo) {
  core::ClusterModel cluster = dahu_like();
  core::ProgramModel program;
  const auto law = core::DurationLaw::make(core::Polynomial::make({{1, 1, 1}}, {1e-10}), {}, core::NoiseFamily::none);
  program.routines["dgemm"] = core::KernelModel::make("M1", core::PiecewiseLaw(law));
  program.routines["dgemv/T"] = program.routines["dgemm"];
  program.regions["loop"] = {core::RegionMode::skip, 1, {}, 10, 4};
  program.rest_s_per_call = 1e-6;
  cluster.program = program;
  const auto time_s = [](const core::ClusterModel& of, const char* routine) {
    return of.program->routines.at(routine).cluster_law().at(shape).mean_s(shape);
  };
  const core::ClusterModel faster = transformed(cluster, {{"scale-kernels", "2"}});
  EXPECT_DOUBLE_EQ(time_s(faster, "dgemm"), time_s(cluster, "dgemm") / 2);
  EXPECT_DOUBLE_EQ(time_s(faster, "dgemv/T"), time_s(cluster, "dgemv/T") / 2);
  EXPECT_DOUBLE_EQ(faster.program->regions.at("loop").time_s, 2);
  EXPECT_DOUBLE_EQ(faster.program->rest_s_per_call, 5e-7);

  const core::ClusterModel only_dgemm = transformed(cluster, {{"scale-dgemm", "4"}});
  EXPECT_DOUBLE_EQ(time_s(only_dgemm, "dgemm"), time_s(cluster, "dgemm") / 4);
  EXPECT_DOUBLE_EQ(time_s(only_dgemm, "dgemv/T"), time_s(cluster, "dgemv/T"));
}

TEST(TransformSpeed, ScalesCallsWithoutWorkAsKernels) {
  core::ClusterModel cluster = dahu_like();
  cluster.empty_call_s = {{"dgemm", 1.2e-4}};
  EXPECT_DOUBLE_EQ(transformed(cluster, {{"scale-kernels", "2"}}).empty_call_s.at("dgemm"), 6e-5);
  EXPECT_DOUBLE_EQ(transformed(cluster, {{"scale-all", "0.5"}}).empty_call_s.at("dgemm"), 2.4e-4);
}

TEST(Transform, WritesItselfIntoTheProvenance) {
  EXPECT_THAT(with("scale-dgemm", "2").provenance, ::testing::HasSubstr(R"("transformations":["scale-dgemm=2"])"));
}

TEST(Transform, RefusesArgumentsOfAnotherForm) {
  for (const TransformationInfo& info : transformations()) {
    EXPECT_THROW(with(info.name, "three:of:these:four"), core::Error) << info.name;
    EXPECT_THROW(with(info.name, ""), core::Error) << info.name;
  }
  EXPECT_THROW(with("scale-dgemm", "-1"), core::DomainError);
  EXPECT_THROW(with("scale-all", "nan"), core::DomainError);
  EXPECT_THROW(with("temporal-cv", "-0.1"), core::DomainError);
  EXPECT_THROW(with("temporal-cv", "2"), core::DomainError) << "2 % is 0.02";
  EXPECT_THROW(with("remove-nodes", "3:"), core::DomainError);
  EXPECT_THROW(with("ranks-per-node", "3:"), core::DomainError);
  EXPECT_THROW(with("remove-nodes", "32"), core::DomainError);
  EXPECT_THROW(with("no-such-change", "1"), core::DomainError);
}

TEST(TransformSpeed, ScalesDgemmOnEveryCpuAndNothingElse) {
  const auto before = dahu_like();
  const auto after = with("scale-dgemm", "2");
  for (const auto& [host, cpu] : {std::pair(0, 0), std::pair(3, 0), std::pair(11, 1)}) {
    EXPECT_DOUBLE_EQ(dgemm_of(after, host, cpu).mean_s(shape), dgemm_of(before, host, cpu).mean_s(shape) / 2);
    EXPECT_DOUBLE_EQ(dgemm_of(after, host, cpu).sd_s(shape), dgemm_of(before, host, cpu).sd_s(shape) / 2);
  }
  EXPECT_EQ(core::kernel_model_json(after.kernels.at("daxpy")), core::kernel_model_json(before.kernels.at("daxpy")));
  EXPECT_EQ(core::network_model_json(after.network), core::network_model_json(before.network));
}

TEST(TransformSpeed, BandwidthMovesSlopesAndLatencyMovesIntercepts) {
  const auto remote = [](const core::ClusterModel& c) { return c.network.scope(core::Scope::remote); };
  const auto transfer = [&](const core::ClusterModel& c, double bytes) {
    return remote(c).cost(core::MessageCost::transfer).at(bytes);
  };
  const auto before = dahu_like(), wide = with("scale-bandwidth", "4"), quick = with("scale-latency", "4");
  for (const double bytes : {1.0, 1e5, 1e8}) {
    EXPECT_DOUBLE_EQ(transfer(wide, bytes).slope_s_per_byte, transfer(before, bytes).slope_s_per_byte / 4);
    EXPECT_DOUBLE_EQ(transfer(wide, bytes).intercept_s, transfer(before, bytes).intercept_s);
    EXPECT_DOUBLE_EQ(transfer(quick, bytes).slope_s_per_byte, transfer(before, bytes).slope_s_per_byte);
    EXPECT_DOUBLE_EQ(transfer(quick, bytes).intercept_s, transfer(before, bytes).intercept_s / 4);
  }
  EXPECT_DOUBLE_EQ(remote(wide).bandwidth_bytes_per_s, 4 * remote(before).bandwidth_bytes_per_s);
  EXPECT_DOUBLE_EQ(remote(quick).latency_s, remote(before).latency_s / 4);
}

TEST(TransformSpeed, MessagesCostLessInAllTheirPartsAndInOneScope) {
  const auto before = dahu_like(), both = with("scale-messages", "2"), local = with("scale-messages", "2:local"),
             remote = with("scale-messages", "2:remote");
  const auto faster = [&](const core::ClusterModel& after, core::Scope scope, core::MessageCost cost, double bytes) {
    return before.network.scope(scope).cost(cost).mean_s(bytes) / after.network.scope(scope).cost(cost).mean_s(bytes);
  };
  for (const auto cost : {core::MessageCost::send, core::MessageCost::recv, core::MessageCost::transfer}) {
    for (const double bytes : {1.0, 1e4, 1e6}) {
      if (before.network.scope(core::Scope::local).cost(cost).mean_s(bytes) > 0) {
        EXPECT_NEAR(faster(both, core::Scope::local, cost, bytes), 2, 1e-12);
        EXPECT_NEAR(faster(local, core::Scope::local, cost, bytes), 2, 1e-12);
        EXPECT_NEAR(faster(remote, core::Scope::local, cost, bytes), 1, 1e-12);
      }
      if (before.network.scope(core::Scope::remote).cost(cost).mean_s(bytes) > 0) {
        EXPECT_NEAR(faster(both, core::Scope::remote, cost, bytes), 2, 1e-12);
        EXPECT_NEAR(faster(local, core::Scope::remote, cost, bytes), 1, 1e-12);
        EXPECT_NEAR(faster(remote, core::Scope::remote, cost, bytes), 2, 1e-12);
      }
    }
  }
}

TEST(TransformSpeed, PanelsAndExchangesCostLessAsOtherMessagesDo) {
  core::ClusterModel cluster = dahu_like();
  core::NetworkModel::Values values = cluster.network.values();
  values.remote->panels = core::SegmentedLaw::make({{0, 1e-6, 2e-10, 0, {}, {{1, -0.005, 0.1}}}});
  values.remote->exchange_s = 1e-6;
  values.remote->exchange_s_per_byte = 4e-11;
  cluster.network = core::NetworkModel::make(values);
  const auto remote = [&](const char* name, const char* value = "2") {
    return transformed(cluster, {{name, value}}).network.scope(core::Scope::remote);
  };
  EXPECT_DOUBLE_EQ(remote("scale-bandwidth").panels->at(1e6).slope_s_per_byte, 1e-10);
  EXPECT_DOUBLE_EQ(remote("scale-bandwidth").exchange_cost_s(1e6), 1e-6 + 2e-5);
  EXPECT_DOUBLE_EQ(remote("scale-latency").panels->at(1e6).intercept_s, 5e-7);
  EXPECT_DOUBLE_EQ(remote("scale-messages").panels->at(1e6).slope_s_per_byte, 1e-10);
  EXPECT_DOUBLE_EQ(remote("scale-messages").exchange_cost_s(1e6), 5e-7 + 2e-5);
  EXPECT_FALSE(remote("scale-network-noise", "0").panels->at(1e6).has_noise());
}

TEST(TransformSpeed, CapacitiesScaleWithTheirIntervalsAndAlone) {
  const auto with_capacities = [] {
    core::NetworkModel::Values values = dahu_like().network.values();
    values.remote->capacity = core::LinkCapacity{12e9, 11e9, 13e9, core::LinkCapacity::Origin::measured};
    values.local.capacity = core::LinkCapacity{20e9};
    core::ClusterModel cluster = dahu_like();
    cluster.network = core::NetworkModel::make(values);
    return cluster;
  }();
  const auto scaled = [&](const std::string& name) { return transformed(with_capacities, {{name, "2"}}).network; };
  for (const char* name : {"scale-bandwidth", "scale-capacity", "scale-all"}) {
    const core::NetworkModel network = scaled(name);
    const core::LinkCapacity& capacity = *network.scope(core::Scope::remote).capacity;
    EXPECT_EQ(capacity.bytes_per_s, 24e9) << name;
    EXPECT_EQ(capacity.low_bytes_per_s, 22e9) << name;
    EXPECT_EQ(capacity.high_bytes_per_s, 26e9) << name;
  }
  EXPECT_EQ(scaled("scale-all").scope(core::Scope::local).capacity->bytes_per_s, 40e9);
  EXPECT_EQ(scaled("scale-capacity").scope(core::Scope::local).capacity->bytes_per_s, 20e9);
  const auto& before = with_capacities.network.scope(core::Scope::remote);
  const core::NetworkModel after = scaled("scale-capacity");
  EXPECT_EQ(after.scope(core::Scope::remote).bandwidth_bytes_per_s, before.bandwidth_bytes_per_s);
  EXPECT_EQ(after.scope(core::Scope::remote).cost(core::MessageCost::transfer).mean_s(1e6),
            before.cost(core::MessageCost::transfer).mean_s(1e6));
}

TEST(TransformSpeed, AnUnknownCapacityScalesFromWhatIsAssumed) {
  core::ClusterModel cluster = dahu_like();
  core::NetworkModel::Values values = cluster.network.values();
  values.remote->capacity.reset();
  cluster.network = core::NetworkModel::make(values);
  const double assumed = values.remote->bandwidth_bytes_per_s;
  EXPECT_EQ(transformed(cluster, {{"scale-capacity", "3"}}).network.scope(core::Scope::remote).capacity->bytes_per_s,
            3 * assumed);
  values.remote.reset();
  values.local.capacity.reset();
  cluster.network = core::NetworkModel::make(values);
  EXPECT_THROW(transformed(cluster, {{"scale-capacity", "3"}}), core::DomainError);
}

TEST(TransformSpeed, AcceleratorsThatMayDrawLessRunAtTheClockThatIsLeft) {
  core::ClusterModel cluster = dahu_like();
  core::AcceleratorModel model;
  const auto law = core::DurationLaw::make(core::Polynomial::make({{1, 1, 1}}, {1e-12}), {}, core::NoiseFamily::none);
  const auto kernel = core::KernelModel::make("M1", core::PiecewiseLaw(law));
  model.kernels["dgemm"] = {{}, {}, {}, kernel, {}, 900.0};
  model.kernels["small"] = {{}, {}, {}, kernel, {}, 200.0};
  model.kernels["panel"].handshake = core::HandshakeModel{1, 2, {}, 4e-6, 1e-11, 1e-12};
  cluster.accelerators = model;
  EXPECT_THROW(transformed(cluster, {{"accelerator-power-cap", "200W"}}), core::DomainError) << "no watts";
  cluster.accelerators->power = core::AcceleratorPower{50, 100, 500};
  EXPECT_THROW(transformed(cluster, {{"accelerator-power-cap", "100W"}}), core::DomainError) << "nothing for kernels";
  EXPECT_THROW(transformed(cluster, {{"accelerator-power-cap", "200W:0"}}), core::DomainError);
  // 100 W above those without a kernel, in place of 800 W: half the clock; in place of 400 W: its fourth part's root.
  const auto capped = *transformed(cluster, {{"accelerator-power-cap", "200W"}}).accelerators;
  const auto factor = [&](const core::AcceleratorModel& after, const char* name) {
    return after.kernels.at(name).model->cluster_law().at(shape).mean_s(shape) / law.mean_s(shape);
  };
  constexpr double rounding = 1e-12;
  EXPECT_NEAR(factor(capped, "dgemm"), 2, rounding);
  EXPECT_EQ(factor(capped, "small"), 1) << "it draws no more than that";
  EXPECT_NEAR(capped.kernels.at("panel").handshake->column_s, 4e-6 * std::cbrt(4.0), 4e-6 * rounding) << "busy_w";
  EXPECT_EQ(capped.kernels.at("dgemm").power_w, 200);
  EXPECT_EQ(capped.power->busy_w, 200);
  const auto square = *transformed(cluster, {{"accelerator-power-cap", "200W:2"}}).accelerators;
  EXPECT_NEAR(factor(square, "dgemm"), std::sqrt(8.0), rounding);
  EXPECT_EQ(factor(*transformed(cluster, {{"accelerator-power-cap", "1kW"}}).accelerators, "dgemm"), 1);
}

TEST(TransformSpeed, AcceleratorsBecomeFasterInOnePartOrInAll) {
  core::ClusterModel cluster = dahu_like();
  EXPECT_THROW(transformed(cluster, {{"scale-accelerators", "2"}}), core::DomainError);
  core::AcceleratorModel model;
  model.memory_bytes = 64e9;
  for (double* time : {&model.launch_s, &model.start_s, &model.gap_s, &model.record_s, &model.sync_s, &model.flag_s})
    *time = 4e-6;
  model.to_device = model.from_device = {1e-5, 3e10, 1e10};
  model.within_device = {1e-5, 1e12, {}};
  model.kernels["dgemm"].model = cluster.kernels.at("dgemm");
  model.kernels["panel"].handshake = core::HandshakeModel{2, 1, 3, 2e-6, 2.5e-11, 1.25e-11};
  cluster.accelerators = model;
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.kinds = {{"new", cluster.hosts.names().back(), 32, 2, {}, 0, 1, model}};
  cluster.hosts = core::Hosts::make(hosts);
  EXPECT_THROW(transformed(cluster, {{"scale-accelerators", "2:messages"}}), core::DomainError);
  for (core::AcceleratorModel* one : {&*cluster.accelerators, &*hosts.kinds[0].accelerators})
    one->messages = core::DeviceMessages{{}, {}, core::DeviceMessage{1e-5, 2e10, {}}};
  cluster.hosts = core::Hosts::make(hosts);
  // Times of the kernels, of the calls, and rates of copies and messages, and memory: how much larger they become.
  const auto ratios = [&](const Transformation& change) {
    const core::ClusterModel changed = transformed(cluster, {change});
    const core::AcceleratorModel& after = *changed.hosts.values().kinds[0].accelerators;
    const core::HandshakeModel& talk = *changed.accelerators->kernels.at("panel").handshake;
    EXPECT_EQ(changed.accelerators->memory_bytes, after.memory_bytes);
    const double dgemm = after.kernels.at("dgemm").model->cluster_law().at(shape).mean_s(shape) /
                         model.kernels.at("dgemm").model->cluster_law().at(shape).mean_s(shape);
    EXPECT_DOUBLE_EQ(talk.column_s / 2e-6, dgemm);
    EXPECT_DOUBLE_EQ(after.flag_s, after.launch_s);
    EXPECT_DOUBLE_EQ(after.to_device.bytes_per_s / 3e10, *after.from_device.pageable_bytes_per_s / 1e10);
    return std::vector<double>{dgemm, after.launch_s / 4e-6, after.to_device.bytes_per_s / 3e10,
                               after.messages->remote->bytes_per_s / 2e10, after.memory_bytes / 64e9};
  };
  EXPECT_EQ(ratios({"scale-accelerators", "2"}), (std::vector<double>{0.5, 1, 1, 1, 1}));
  EXPECT_EQ(ratios({"scale-accelerators", "2:kernels"}), (std::vector<double>{0.5, 1, 1, 1, 1}));
  EXPECT_EQ(ratios({"scale-accelerators", "2:copies"}), (std::vector<double>{1, 1, 2, 1, 1}));
  EXPECT_EQ(ratios({"scale-accelerators", "2:messages"}), (std::vector<double>{1, 1, 1, 2, 1}));
  EXPECT_EQ(ratios({"scale-accelerators", "2:memory"}), (std::vector<double>{1, 1, 1, 1, 2}));
  EXPECT_EQ(ratios({"scale-all", "2"}), (std::vector<double>{0.5, 0.5, 2, 2, 1}));
}

TEST(TransformVariability, SetsTheCoefficientOfVariationOfEveryCall) {
  const auto cluster = with("temporal-cv", "0.07");
  for (const core::KernelShape& call : {core::KernelShape{100, 100, 100}, shape}) {
    const core::DurationLaw& law = cluster.kernels.at("dgemm").law(3, 0).at(call);
    EXPECT_NEAR(law.sd_s(call) / law.mean_s(call), 0.07, 1e-12);
  }
  EXPECT_EQ(dgemm_of(with("temporal-cv", "0"), 0, 0).sd_s(shape), 0);
  EXPECT_DOUBLE_EQ(dgemm_of(cluster, 3, 0).mean_s(shape), dgemm_of(dahu_like(), 3, 0).mean_s(shape));
}

TEST(TransformVariability, ZeroMakesAllKernelsAndMessagesDeterministic) {
  auto with_program = dahu_like();
  core::ProgramModel& program = with_program.program.emplace();
  program.routines["dgemm"] = with_program.kernels.at("dgemm");
  program.regions["loop"] = {core::RegionMode::model, 1, with_program.kernels.at("dgemm"), 1, 1};
  const auto cluster = transformed(with_program, {{"kernels-temporal-cv", "0"}, {"scale-network-noise", "0"}});
  EXPECT_EQ(cluster.program->routines.at("dgemm").law(3, 0).at(shape).sd_s(shape), 0);
  EXPECT_EQ(cluster.program->regions.at("loop").model.law(3, 0).at(shape).sd_s(shape), 0);
  for (const auto& [name, model] : cluster.kernels) EXPECT_EQ(model.law(3, 0).at(shape).sd_s(shape), 0) << name;
  for (const auto& law : cluster.network.scope(core::Scope::remote).costs) {
    for (const core::Segment& segment : law.segments()) EXPECT_TRUE(segment.sd_s == 0 && segment.modes.empty());
  }
}

TEST(TransformVariability, NoiseOfMessagesKeepsTheExpectation) {
  auto cluster = dahu_like();
  core::NetworkModel::Values values = cluster.network.values();
  values.remote->cost(core::MessageCost::transfer) =
      core::SegmentedLaw::make({{0, 0, 1e-10, 0, {{0.5, 1e-6, 1e-7}, {0.5, 3e-6, 2e-7}}}});
  cluster.network = core::NetworkModel::make(values);
  for (const char* factor : {"0", "0.5", "2"}) {
    const auto changed = transformed(cluster, {{"scale-network-noise", factor}});
    EXPECT_DOUBLE_EQ(changed.network.scope(core::Scope::remote).cost(core::MessageCost::transfer).mean_s(1000), 2.1e-6);
  }
}

TEST(Transform, AddsScalesAndSynchronisesDetours) {
  const auto cluster =
      transformed(dahu_like(), {{"add-detours", "1s:10ms"}, {"add-detours", "4ms:5us:host"}, {"scale-detours", "0.5"}});
  ASSERT_EQ(cluster.detours.size(), 2U);
  EXPECT_EQ(cluster.detours[0].values().name, "added-1");
  EXPECT_EQ(cluster.detours[0].values().period_s, 1);
  EXPECT_DOUBLE_EQ(cluster.detours[0].share(), 0.005);
  EXPECT_EQ(cluster.detours[0].values().per, core::DetoursPer::core);
  EXPECT_EQ(cluster.detours[1].values().name, "added-2");
  EXPECT_EQ(cluster.detours[1].values().per, core::DetoursPer::host);
  EXPECT_DOUBLE_EQ(core::mean_s(cluster.detours[1].values().duration), 2.5e-6);
  for (const core::DetourSource& source : transformed(cluster, {{"synchronise-detours", "yes"}}).detours)
    EXPECT_EQ(source.values().per, core::DetoursPer::cluster);
}

TEST(Transform, AddsDetoursOfSomeCores) {
  const auto cores = [](const char* argument) {
    return transformed(dahu_like(), {{"add-detours", argument}}).detours.at(0).values().cores;
  };
  EXPECT_EQ(cores("1s:10ms:core:0"), std::vector<int>{0});
  EXPECT_EQ(cores("1s:10ms:host:30-31"), (std::vector<int>{30, 31}));
  for (const char* wrong :
       {"1s:10ms:core:", "1s:10ms:core:2-1", "1s:10ms:core:-1", "1s:10ms:core:x", "1s:10ms:core:0-"})
    EXPECT_THROW(cores(wrong), core::Error) << wrong;
  EXPECT_THROW(cores("1s:10ms:core:32"), core::DomainError) << "a host has 32 cores";
}

TEST(Transform, SetsTheDetoursOfAFile) {
  const core::TemporaryFolder folder("hplcast-test");
  const std::string path = (folder.path() / "detours.json").string();
  const auto agents = transformed(dahu_like(), {{"add-detours", "1s:10ms:host"}});
  core::write_file(path, [&](std::ostream& out) { out << core::detours_json(agents.detours); });
  const auto cluster = transformed(dahu_like(), {{"add-detours", "4ms:5us"}, {"set-detours", path}});
  EXPECT_EQ(core::detours_json(cluster.detours), core::detours_json(agents.detours));
  EXPECT_THROW(with("set-detours", path + ".not"), core::Error);
}

TEST(Transform, RefusesDetoursThatLeaveNoTimeAndChangesOfThoseThatAreNotThere) {
  for (const char* wrong :
       {"1s", "1s:1s", "0s:0s", "10ms:1s", "1s:10ms:rack", "1s:-1ms", "often:10ms", "1s:10ms:core:x"})
    EXPECT_THROW(with("add-detours", wrong), core::DomainError) << wrong;
  EXPECT_THROW(with("scale-detours", "2"), core::DomainError) << "there are none";
  EXPECT_THROW(with("synchronise-detours", "yes"), core::DomainError) << "there are none";
  const std::vector<Transformation> half = {{"add-detours", "1s:500ms"}};
  EXPECT_THROW(transformed(transformed(dahu_like(), half), {{"scale-detours", "2"}}), core::DomainError);
  EXPECT_THROW(transformed(transformed(dahu_like(), half), {{"scale-detours", "-1"}}), core::DomainError);
  EXPECT_THROW(transformed(transformed(dahu_like(), half), half), core::DomainError) << "100 % together";
  EXPECT_THROW(transformed(transformed(dahu_like(), half), {{"synchronise-detours", "no"}}), core::DomainError);
}

TEST(TransformVariability, SpatialZeroMakesAllCpusAlikeAndOthersScatterAsAsked) {
  const auto alike = with("spatial-cv", "0");
  EXPECT_TRUE(alike.kernels.at("dgemm").overrides().empty());
  double mean_s = 0;
  const auto before = dahu_like();
  for (int host = 0; host < 32; ++host)
    mean_s += (dgemm_of(before, host, 0).mean_s(shape) + dgemm_of(before, host, 1).mean_s(shape)) / 64;
  EXPECT_NEAR(dgemm_of(alike, 5, 1).mean_s(shape), mean_s, 1e-12 * mean_s);

  const auto wide = transformed(with("add-nodes", "468"), {{"spatial-cv", "0.05:3"}});
  double sum = 0, squares = 0;
  for (int host = 0; host < 500; ++host) {
    for (int cpu = 0; cpu < 2; ++cpu) {
      const double value = dgemm_of(wide, host, cpu).mean_s(shape);
      sum += value / 1000;
      squares += value * value / 1000;
    }
  }
  const double cv = std::sqrt(squares - sum * sum) / sum;
  EXPECT_NEAR(cv, 0.05, 0.05 * 0.09);  // 4 standard errors of a standard deviation of 1000 draws: 4 / sqrt(2000)
}

TEST(TransformNodes, RanksHostsByTheirDgemm) {
  const auto order = hosts_by_rate(dahu_like());
  EXPECT_EQ(order.front(), 11);  // 8 and 10 percent slower on its CPUs
  EXPECT_EQ(order.back(), 26);   // the fastest on one of its CPUs
}

TEST(TransformNodes, RemovesTheSlowestAndMovesTheLawsOfTheRest) {
  const auto before = dahu_like();
  const auto after = with("remove-nodes", "1");
  EXPECT_EQ(after.hosts.values().names, "node-[1-11,13-32]");
  EXPECT_EQ(after.hosts.count(), 31);
  for (int host = 0; host < 31; ++host) {
    for (int cpu = 0; cpu < 2; ++cpu) {
      EXPECT_EQ(dgemm_of(after, host, cpu).mean_s(shape), dgemm_of(before, host + (host >= 11), cpu).mean_s(shape))
          << host;
    }
  }
  EXPECT_EQ(with("remove-hosts", "node-[12]").hosts.values().names, after.hosts.values().names);
}

TEST(TransformNodes, AddsCopiesUnderNewNames) {
  const auto after = with("add-nodes", "2:slowest");
  EXPECT_EQ(after.hosts.values().names, "node-[1-34]");
  EXPECT_EQ(dgemm_of(after, 33, 1).mean_s(shape), dgemm_of(dahu_like(), 11, 1).mean_s(shape));
}

TEST(TransformNodes, ReplacesTheSlowestByTheMedian) {
  const auto after = with("replace-nodes", "3:slowest:median");
  const auto rates = host_rates(after);
  const auto old_rates = host_rates(dahu_like());
  EXPECT_GT(*std::min_element(rates.begin(), rates.end()), *std::min_element(old_rates.begin(), old_rates.end()));
  EXPECT_EQ(after.hosts.values().names, "node-[1-32]");
}

TEST(TransformNodes, SortsByRate) {
  const auto rates = host_rates(with("sort-nodes", "fastest"));
  EXPECT_TRUE(std::is_sorted(rates.rbegin(), rates.rend()));
}

TEST(TransformNodes, LawsOfProgramsAndAcceleratorsGoWithTheirHosts) {
  const core::KernelModel law = core::KernelModel::make("M0", {}, {{11, 1, {}}});  // of the slowest host
  core::ClusterModel cluster = dahu_like();
  cluster.program.emplace().routines["dgemm"] = law;
  cluster.program->regions["loop"] = {core::RegionMode::model, 1, law, 1, 1};
  cluster.accelerators.emplace().kernels["dgemm"].model = law;
  core::Hosts::Values hosts = cluster.hosts.values();
  hosts.kinds = {{"fat", "node-[11-12]", hosts.cores, hosts.cpus, hosts.rank_to_cpu, 0, 1, cluster.accelerators}};
  cluster.hosts = core::Hosts::make(hosts);
  const auto hosts_after = [&](const std::string& change, const std::string& argument) {
    const core::ClusterModel after = transformed(cluster, {{change, argument}});
    const core::ProgramModel& program = *after.program;
    std::vector<std::string> all;
    for (const core::KernelModel& model : {program.routines.at("dgemm"), program.regions.at("loop").model,
                                           *after.accelerators->kernels.at("dgemm").model,
                                           *after.hosts.values().kinds.at(0).accelerators->kernels.at("dgemm").model}) {
      std::string& one = all.emplace_back();
      for (const core::CpuLaw& own : model.overrides()) one += std::to_string(own.host) + " ";
    }
    return all;
  };
  EXPECT_THAT(hosts_after("remove-hosts", "node-[1-3]"), ::testing::Each("8 "));
  EXPECT_THAT(hosts_after("remove-hosts", "node-12"), ::testing::Each(""));
  EXPECT_THAT(hosts_after("add-nodes", "1:slowest"), ::testing::Each("11 32 "));
  EXPECT_THAT(hosts_after("sort-nodes", "slowest"), ::testing::Each("0 "));
  EXPECT_THAT(hosts_after("replace-nodes", "1:slowest:fastest"), ::testing::Each(""));
  EXPECT_THAT(hosts_after("ranks-per-node", "1"), ::testing::Each("")) << "of a CPU that is left out";
}

TEST(TransformNodes, RefusesToRemoveLeavesOfATree) {
  const auto tree = with("fat-tree", "8:4:2");
  EXPECT_THROW(transformed(tree, {{"remove-nodes", "1"}}), core::DomainError);
}

TEST(TransformNodes, NamesHostsShortly) {
  EXPECT_EQ(compressed_hosts({"n-1", "n-2", "n-3", "n-7"}), "n-[1-3,7]");
  EXPECT_EQ(compressed_hosts({"n-1.site", "n-2.site"}), "n-[1-2].site");
  EXPECT_EQ(compressed_hosts({"n-01", "n-02"}), "n-01,n-02");
  EXPECT_EQ(compressed_hosts({"a", "b"}), "a,b");
  for (const char* names : {"x-[3,1-2]", "localhost", "a-1,b-1"}) {
    EXPECT_EQ(core::expand_hosts(compressed_hosts(core::expand_hosts(names))), core::expand_hosts(names));
  }
}

TEST(TransformPlacement, SpreadsFewerRanksOverTheCpus) {
  const auto cluster = with("ranks-per-node", "4");  // cyclic
  EXPECT_EQ(cluster.hosts.values().cores, 4);
  EXPECT_EQ(cluster.hosts.cpu_of(0, 0), 0);
  EXPECT_EQ(cluster.hosts.cpu_of(0, 1), 1);
  auto block = dahu_like();
  core::Hosts::Values values = block.hosts.values();
  values.rank_to_cpu.kind = core::RankToCpu::Kind::block;
  block.hosts = core::Hosts::make(values);
  const auto half = transformed(block, {{"ranks-per-node", "4"}});
  EXPECT_EQ(half.hosts.cpu_of(0, 1), 0);
  EXPECT_EQ(half.hosts.cpu_of(0, 2), 1);
}

TEST(TransformPlacement, SpreadsFewerRanksOverTheCpusHoweverTheyAreListed) {
  const auto cpus = [](const std::vector<Transformation>& changes) {
    const core::Hosts hosts = transformed(dahu_like(), changes).hosts;
    std::vector<int> of_ranks;
    for (int rank = 0; rank < hosts.values().cores; ++rank) of_ranks.push_back(hosts.cpu_of(0, rank));
    return of_ranks;
  };
  const std::vector<int> both = {0, 1, 0, 1};  // cyclic, which is a list after the first change
  EXPECT_EQ(cpus({{"ranks-per-node", "16"}, {"ranks-per-node", "4"}}), both);
  EXPECT_EQ(cpus({{"threads-per-rank", "4"}, {"ranks-per-node", "4"}}), both);
  EXPECT_EQ(cpus({{"threads-per-rank", "2"}, {"threads-per-rank", "4"}}), both);
  EXPECT_EQ(cpus({{"ranks-per-node", "4"}, {"ranks-per-node", "3"}}), (std::vector<int>{0, 1, 0}));
}

TEST(TransformPlacement, DetoursOfSingleCoresComeAfterTheRanks) {
  const Transformation detours{"add-detours", "1s:10ms:core:3"};
  for (const Transformation& change : {Transformation{"ranks-per-node", "16"}, {"threads-per-rank", "8"}})
    EXPECT_THROW(transformed(dahu_like(), {detours, change}), core::DomainError) << change.name;
  EXPECT_EQ(transformed(dahu_like(), {{"ranks-per-node", "4"}, detours}).detours.size(), 1U);
  EXPECT_EQ(transformed(dahu_like(), {detours, {"ranks-per-node", "32"}, {"threads-per-rank", "1"}}).detours.size(),
            1U);
  EXPECT_NO_THROW(transformed(dahu_like(), {{"add-detours", "1s:10ms:core"}, {"ranks-per-node", "4"}}));
}

TEST(TransformPlacement, ThreadsShareTheMatrixKernels) {
  const auto before = dahu_like();
  const auto after = with("threads-per-rank", "8:0.9");
  EXPECT_EQ(after.hosts.values().threads_per_rank, 8);
  EXPECT_EQ(after.hosts.values().cores, 4);
  EXPECT_NEAR(dgemm_of(after, 3, 0).mean_s(shape) * 8 * 0.9, dgemm_of(before, 3, 0).mean_s(shape), 1e-15);
  EXPECT_EQ(core::kernel_model_json(after.kernels.at("daxpy")), core::kernel_model_json(before.kernels.at("daxpy")));
  EXPECT_THROW(with("threads-per-rank", "5"), core::DomainError);
}

TEST(TransformGenerate, DrawsEveryCpu) {
  const std::string model = HPLCAST_SOURCE_DIR "/examples/generative/generative.json";
  const auto cluster = with("generate", model + ";seed=7;hosts=node-[1-64]");
  EXPECT_EQ(cluster.hosts.count(), 64);
  EXPECT_EQ(cluster.kernels.at("dgemm").overrides().size(), 128U);
  EXPECT_THROW(with("generate", model + ";colour=red"), core::DomainError);
}

}  // namespace
}  // namespace hplcast::study
