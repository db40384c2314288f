#include "hplcast/core/cluster_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/core/example_power.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

namespace fs = std::filesystem;

const fs::path bad_folder = fs::path(HPLCAST_SOURCE_DIR) / "tests/core/bad";

ClusterModel example() {
  ClusterModel cluster;
  cluster.name = "two \"quoted\" nodes";
  cluster.hosts = Hosts::make({"n-[1-2]", 4, 2, {RankToCpu::Kind::list, {0, 1, 1, 0}}, 1.5e10});
  const auto mu = Polynomial::make({{1, 1, 1}, {1, 1, 0}, {}}, {6.1e-11, 1e-10, 1e-7});
  const auto law = PiecewiseLaw(DurationLaw::make(mu, scaled(mu, 0.03), NoiseFamily::half_normal));
  FitQuality quality;
  quality.rows = 100;
  quality.r2 = 0.999;
  quality.mu_t_values = {10, 20, 30};
  quality.notes = {"mk removed: t = 0.3"};
  cluster.kernels["dgemm"] =
      KernelModel::make("M2", law, {{1, 1, PiecewiseLaw(DurationLaw::make(scaled(mu, 1.1), {}, NoiseFamily::none))}},
                        ShapeRange{{1, 1, 128}, {2000, 3000, 128}}, quality);
  cluster.kernels["dscal"] = KernelModel::make(
      "M'",
      PiecewiseLaw::make({0, 1, 0},
                         {{0, law.at({})},
                          {512, DurationLaw::make(mu, {}, NoiseFamily::mixture, {{0.5, 0.9, 0.1}, {0.5, 1.1, 0.1}})}}));
  NetworkModel::Values network;
  network.local.bandwidth_bytes_per_s = 1e10;
  network.local.latency_s = 1e-7;
  network.local.cost(MessageCost::transfer) = SegmentedLaw::make({{0, 1e-6, 1e-10}, {65536, 2e-6, 5e-11, 1e-7, {}}});
  network.remote = network.local;
  network.remote->cost(MessageCost::recv) = SegmentedLaw::make({{0, 1e-6, 0, 0, {{0.5, 1e-6, 1e-8}, {0.5, 2e-6, 0}}}});
  network.remote->half_duplex = true;
  network.remote->first_use_s_per_byte = 2e-9;
  network.remote->exchange_s = 1e-6;
  network.remote->exchange_s_per_byte = 3e-11;
  network.remote->panels = SegmentedLaw::make({{0, 1e-6, 1e-10}, {1e5, 2e-6, 5e-11}});
  network.async_small_bytes = 4096;
  network.detached_bytes = 65536;
  network.iprobe_s = 2e-7;
  network.growing_probes = true;
  network.late_probes = true;
  network.topology = FatTree{{1, 2}, {1, 2}, {1, 1}};
  cluster.network = NetworkModel::make(network);
  cluster.power = example_power();
  cluster.detours = {DetourSource::make({"agent", PeriodicDetours{0.1, {}}, 1, ConstantDuration{0.01}})};
  ProgramModel program;
  program.command = "./solver";
  program.routines["dgemv/T"] = cluster.kernels["dgemm"];
  program.regions["stencil"] = {RegionMode::model, 1, KernelModel::make("M2", law), 10, 0.5};
  program.regions["setup"] = {RegionMode::factor, 0.9, {}, 1, 2};
  program.observed = {10, 7, 1, 2};
  program.rest_s_per_call = 1e-7;
  program.rest_s_per_element = 1e-9;
  cluster.program = program;
  cluster.uncertainty.emplace();
  cluster.uncertainty->of(ErrorGroup::messages) = EstimatedSd{0.03, 15};
  cluster.uncertainty->days = 2;
  cluster.uncertainty->between_days = EstimatedSd{0.007, 1};
  cluster.uncertainty->pieces = EstimatedSd{0.03, 10};
  cluster.uncertainty->piece_s = 2.5;
  cluster.provenance = R"({"date":"2026-01-01","rows":[1,2]})";
  return cluster;
}

std::string text_of(const ClusterModel& cluster) {
  std::ostringstream out;
  write_cluster(out, cluster);
  return out.str();
}

AcceleratorModel example_accelerators() {
  AcceleratorModel model;
  model.name = "example";
  model.per_host = 4;
  model.memory_bytes = 64e9;
  model.compute_units = 110;
  model.launch_s = 4e-6;
  model.flag_s = 1.2e-6;
  model.to_device = {1e-5, 3.6e10, 9e9};
  model.from_device = model.within_device = {1e-6, 2e10, std::nullopt};
  const auto law = PiecewiseLaw(DurationLaw::make(Polynomial::make({{1, 1, 1}}, {1e-13}), {}, NoiseFamily::none));
  model.kernels["dgemm/NT"] = {{}, {}, {}, KernelModel::make("M1", law), {}};
  model.kernels["pack_rows"] = {1, 0, 5, KernelModel::make("M1", law), {}};
  model.kernels["panel"] = {0, {}, {}, {}, HandshakeModel{3, 1, 4, 4e-6, 2e-11, 1e-11}};
  model.kernels["panel"].power_w = 200;
  model.messages = DeviceMessages{DeviceMessage{1e-6, 2e11, 2}, DeviceMessage{2e-6, 5e10, {}}, {}};
  model.power = AcceleratorPower{90, 130, 500};
  return model;
}

TEST(ClusterJson, AcceleratorsComeBackAndRaiseTheVersion) {
  ClusterModel cluster = example();
  EXPECT_THAT(text_of(cluster), testing::HasSubstr("\"schema_version\": 4,"));
  cluster.accelerators = example_accelerators();
  const std::string first = text_of(cluster);
  EXPECT_THAT(first, testing::HasSubstr("\"schema_version\": 5,"));
  std::istringstream in(first);
  const ClusterModel again = read_cluster(in, "text");
  EXPECT_EQ(text_of(again), first);
  EXPECT_EQ(again.accelerators->per_host, 4);
  EXPECT_EQ(again.accelerators->to_device.pageable_bytes_per_s, 9e9);
  EXPECT_EQ(again.accelerators->kernels.at("pack_rows").k, 5);
  EXPECT_EQ(again.accelerators->kernels.at("panel").handshake->pivot, 4);
  EXPECT_FALSE(again.accelerators->kernels.at("panel").model.has_value());
  EXPECT_EQ(again.accelerators->kernels.at("panel").power_w, 200);
  EXPECT_EQ(again.accelerators->messages->near->accelerators, 2);
  EXPECT_FALSE(again.accelerators->messages->remote.has_value());
  EXPECT_EQ(again.accelerators->power->busy_w, 500);
}

/// n-1 to n-3 of 2 CPUs are new, n-4 is a kind of its own.
ClusterModel example_of_kinds() {
  ClusterModel cluster = example();
  Hosts::Values hosts{"n-[0-4]", 4, 2, {}, 1.5e10};
  hosts.kinds = {{"new", "n-[1-3]", 4, 2, {RankToCpu::Kind::cyclic, {}}, 3e10, 0.5}, {"one", "n-4", 1, 1, {}, 0, 1}};
  cluster.hosts = Hosts::make(hosts);
  NetworkModel::Values network = cluster.network.values();
  network.topology = SingleSwitch{};
  cluster.network = NetworkModel::make(network);
  KernelModel& dgemm = cluster.kernels["dgemm"];
  const auto law = [&](double factor) {
    return PiecewiseLaw(DurationLaw::make(scaled(dgemm.cluster_law().at({}).mu(), factor), {}, NoiseFamily::none));
  };
  std::vector<CpuLaw> laws = {{0, 1, law(7)}, {4, 0, law(5)}};
  for (int host = 1; host <= 3; ++host)
    for (int cpu = 0; cpu < 2; ++cpu) laws.push_back({host, cpu, law(cpu == 0 ? 2 : host == 2 ? 4 : 3)});
  dgemm = KernelModel::make("M2", dgemm.cluster_law(), laws);
  std::vector<CpuLaw> alike;
  for (int host = 1; host <= 3; ++host)
    for (int cpu = 0; cpu < 2; ++cpu) alike.push_back({host, cpu, law(2)});
  cluster.kernels["dtrsm"] = KernelModel::make("M2", dgemm.cluster_law(), alike);
  PowerModel::Values power = cluster.power->values();
  power.overrides.clear();
  for (const int host : {1, 2, 3}) {
    PowerOverride one;
    one.host = host;
    one.off_w = 3;
    power.overrides.push_back(one);
  }
  cluster.power = PowerModel::make(power);
  cluster.program.reset();
  return cluster;
}

TEST(ClusterJson, LawsAndWattsThatAKindOfHostsHasAlikeAreWrittenOnce) {
  const ClusterModel cluster = example_of_kinds();
  const std::string text = text_of(cluster);
  EXPECT_THAT(text, testing::HasSubstr("\"schema_version\": 7,"));
  std::istringstream in(text);
  EXPECT_EQ(text_of(read_cluster(in, "text")), text);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["hosts"]["kinds"][0]["link_share"], 0.5);
  // CPU 0 of the three hosts, the single host, n-0 CPU 1, and CPU 1 of the three, which differ.
  const auto& dgemm = json["kernels"]["dgemm"]["overrides"];
  ASSERT_EQ(dgemm.size(), 6U);
  EXPECT_EQ(dgemm[0]["kind"], "new");
  EXPECT_EQ(dgemm[0]["cpu"], 0);
  EXPECT_EQ(dgemm[1]["kind"], "one");
  EXPECT_FALSE(dgemm[1].contains("cpu"));
  const auto& dtrsm = json["kernels"]["dtrsm"]["overrides"];
  ASSERT_EQ(dtrsm.size(), 1U);
  EXPECT_EQ(dtrsm[0]["kind"], "new");
  ASSERT_EQ(json["power"]["overrides"].size(), 1U);
  EXPECT_EQ(json["power"]["overrides"][0]["kind"], "new");
}

TEST(ClusterJson, OverridesOfAKindAreThoseOfItsHostsUnlessTheseHaveTheirOwn) {
  auto json = nlohmann::json::parse(text_of(example_of_kinds()));
  auto of_kind = json["kernels"]["dtrsm"]["overrides"][0];
  auto own = of_kind;
  own.erase("kind");
  own["host"] = 2;
  own["cpu"] = 1;
  own["mu"] = {{"mnk", 1}};
  json["kernels"]["dtrsm"]["overrides"] = {of_kind, own};
  std::istringstream in(json.dump());
  const ClusterModel cluster = read_cluster(in, "text");
  const auto at_one = [&](int host, int cpu) {
    return cluster.kernels.at("dtrsm").law(host, cpu).at({1, 1, 1}).mean_s({1, 1, 1});
  };
  EXPECT_EQ(at_one(2, 1), 1);
  EXPECT_EQ(at_one(2, 0), at_one(1, 1));
  EXPECT_EQ(at_one(1, 1), 2 * at_one(0, 0));
  EXPECT_EQ(cluster.power->off_w(3), 3);

  const auto error_of = [&](const nlohmann::json& overrides) {
    json["kernels"]["dtrsm"]["overrides"] = overrides;
    std::istringstream bad(json.dump());
    return tests::error_in([&] { read_cluster(bad, "text"); });
  };
  auto other = of_kind;
  other["kind"] = "newer";
  EXPECT_THAT(error_of(nlohmann::json::array({other})),
              testing::HasSubstr("/kernels/dtrsm/overrides/0/kind`: found \"newer\""));
  EXPECT_THAT(error_of({of_kind, of_kind}), testing::HasSubstr("kind new twice"));
  auto both = of_kind;
  both["host"] = 1;
  EXPECT_THAT(error_of(nlohmann::json::array({both})), testing::HasSubstr("/kernels/dtrsm/overrides/0/host"));
  auto outside = own;
  outside["host"] = 4;
  EXPECT_THAT(error_of(nlohmann::json::array({outside})), testing::HasSubstr("CPUs below 1"));
}

TEST(ClusterJson, RoutesAndGroupsOfHostsComeBackAndRaiseTheVersion) {
  ClusterModel cluster = example();
  NetworkModel::Values network = cluster.network.values();
  const Routing routing{true, {{0, 1}, {3, 1}}};
  FatTree tree = FatTree::from("2;4,8;1,2;1,1");
  tree.routing = routing;
  Dragonfly fly = Dragonfly::from("3,4;3,2;3,1;2");
  fly.routing = {false, {{0, 2}}};
  for (const Topology& topology : {Topology(tree), Topology(fly), Topology(HostGroups{{0, 1, 0}, 1.4e-7, 0.99})}) {
    network.topology = topology;
    cluster.network = NetworkModel::make(network);
    Hosts::Values hosts = cluster.hosts.values();
    hosts.names = "n-[1-" + std::to_string(hosts_of(topology).value()) + "]";
    cluster.hosts = Hosts::make(hosts);
    const std::string first = text_of(cluster);
    EXPECT_THAT(first, testing::HasSubstr("\"schema_version\": 6,"));
    std::istringstream in(first);
    EXPECT_EQ(text_of(read_cluster(in, "text")), first);
  }
  EXPECT_THAT(text_of(cluster), testing::HasSubstr("\"extra_latency_s\": 1.4e-07"));
  const auto error_of = [&](const std::string& topology) {
    nlohmann::json json = nlohmann::json::parse(text_of(cluster));
    json["network"]["topology"] = nlohmann::json::parse(topology);
    std::istringstream in(json.dump());
    return tests::error_in([&] { read_cluster(in, "text"); });
  };
  EXPECT_THAT(error_of(R"({"kind": "single_switch", "routing": "adaptive"})"), testing::HasSubstr("no other routes"));
  EXPECT_THAT(error_of(R"({"kind": "dragonfly", "parameters": "3,1;1,1;3,1;1", "routing": "minimal"})"),
              testing::HasSubstr("expected adaptive or static"));
  EXPECT_THAT(error_of(R"({"kind": "dragonfly", "parameters": "3,1;1,1;3,1;1", "failed_links": [[0, 1, 2]]})"),
              testing::HasSubstr("/network/topology/failed_links/0"));
  EXPECT_THAT(error_of(R"({"kind": "torus", "parameters": "4", "groups": [0, 1]})"),
              testing::HasSubstr("they are for host_groups"));
  EXPECT_THAT(error_of(R"({"kind": "host_groups", "extra_latency_s": 1e-7})"), testing::HasSubstr("groups"));
  EXPECT_THAT(error_of(R"({"kind": "torus", "parameters": "4"})"),
              testing::HasSubstr("torus of 4 hosts; expected one of 3 hosts"));
  EXPECT_THAT(error_of(R"({"kind": "host_groups", "groups": [0, 1], "extra_latency_s": 1e-7})"),
              testing::HasSubstr("host_groups of 2 hosts; expected one of 3 hosts"));
}

TEST(ClusterJson, RailsAreOfVersion8AndBadOnesAreRefused) {
  ClusterModel cluster = example();
  const int cpus = cluster.hosts.most_cpus();
  NetworkModel::Values network = cluster.network.values();
  if (!network.remote) network.remote = network.local;
  network.rails = equal_rails(2 * cpus, cpus);
  network.rails->use = Rails::Use::striped;
  network.rails->striped_from_bytes = 65536;
  network.rails->cards[1] = {0.5, 0.75, 1e-7};
  network.rails->far = {{0, 1, 2e-7, 0.9}};
  cluster.network = NetworkModel::make(network);
  const std::string first = text_of(cluster);
  EXPECT_THAT(first, testing::HasSubstr("\"schema_version\": 8,"));
  std::istringstream again(first);
  EXPECT_EQ(text_of(read_cluster(again, "text")), first);
  const auto error_of = [&](const std::string& key, const nlohmann::json& value) {
    nlohmann::json json = nlohmann::json::parse(first);
    json["network"]["rails"][key] = value;
    std::istringstream in(json.dump());
    return tests::error_in([&] { read_cluster(in, "text"); });
  };
  EXPECT_THAT(error_of("use", "both"), testing::HasSubstr("expected bound or striped"));
  EXPECT_THAT(error_of("near", nlohmann::json::array()), testing::HasSubstr("rails.near"));
  EXPECT_THAT(error_of("near", {{7}}), testing::HasSubstr("expected 0 to"));
  EXPECT_THAT(error_of("cards", nlohmann::json::array()), testing::HasSubstr("rails.cards"));
  EXPECT_THAT(error_of("far", {{{"cpu", 0}, {"rail", 0}, {"rate_share", 1.5}}}), testing::HasSubstr("at most 1"));
  EXPECT_THAT(error_of("far", {{{"cpu", 9}, {"rail", 0}}}), testing::HasSubstr("rails.far.cpu"));
  EXPECT_THAT(error_of("number", 2), testing::HasSubstr("unknown key"));
  network.rails->use = Rails::Use::bound;
  network.rails->near = {{0}};
  EXPECT_THAT(tests::error_in([&] { NetworkModel::make(network); }), testing::HasSubstr("card 1 of no CPU"));
  network.rails->near.assign(1, {});
  for (int card = 0; card < 2 * cpus; ++card) network.rails->near[0].push_back(card);
  cluster.network = NetworkModel::make(network);
  if (cpus > 1) {
    EXPECT_THROW(check_links(cluster), DomainError);
  }
}

TEST(ClusterJson, AKindHasItsOwnAcceleratorsOrNoneOrThoseOfAll) {
  ClusterModel cluster = example_of_kinds();
  cluster.accelerators = example_accelerators();
  EXPECT_THAT(text_of(cluster), testing::HasSubstr("\"schema_version\": 7,")) << "the same for all, as before";
  EXPECT_EQ(cluster.accelerators_of(1), &*cluster.accelerators);
  Hosts::Values hosts = cluster.hosts.values();
  hosts.kinds[0].accelerators = example_accelerators();
  hosts.kinds[0].accelerators->kernels["dgemm/NT"].m = 3;
  hosts.kinds[1].accelerators.emplace().per_host = 0;
  cluster.hosts = Hosts::make(hosts);
  const std::string first = text_of(cluster);
  EXPECT_THAT(first, testing::HasSubstr("\"schema_version\": 10,"));
  std::istringstream in(first);
  const ClusterModel again = read_cluster(in, "text");
  EXPECT_EQ(text_of(again), first);
  EXPECT_EQ(again.accelerators_of(0)->kernels.at("dgemm/NT").m, std::nullopt);
  EXPECT_EQ(again.accelerators_of(2)->kernels.at("dgemm/NT").m, 3);
  EXPECT_EQ(again.accelerators_of(4), nullptr);
  EXPECT_TRUE(again.has_accelerators());
}

TEST(ClusterJson, AnAcceleratorsKernelIsAModelOrAHandshake) {
  ClusterModel cluster = example();
  cluster.accelerators = example_accelerators();
  const auto refusal = [&] {
    std::istringstream in(text_of(cluster));
    try {
      read_cluster(in, "text");
    } catch (const ParseError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  cluster.accelerators->kernels["panel"].model = cluster.accelerators->kernels["dgemm/NT"].model;
  EXPECT_THAT(refusal(), testing::HasSubstr("either `model` or `handshake`"));
  EXPECT_THAT(refusal(), testing::HasSubstr("/accelerators/kernels/panel"));
  cluster.accelerators->kernels["panel"] = {};
  EXPECT_THAT(refusal(), testing::HasSubstr("either `model` or `handshake`"));
  cluster.accelerators = example_accelerators();
  cluster.accelerators->memory_bytes = 0;
  EXPECT_THAT(refusal(), testing::HasSubstr("expected a number above 0"));
  cluster.accelerators->memory_bytes = 1;
  cluster.accelerators->power->idle_w = -1;
  EXPECT_THAT(refusal(), testing::HasSubstr("/accelerators/power/idle_w"));
  cluster.accelerators = example_accelerators();
  cluster.accelerators->messages->near->accelerators.reset();
  EXPECT_THAT(refusal(), testing::HasSubstr("how many are near"));
  cluster.accelerators->messages->near->accelerators = 1;
  EXPECT_THAT(refusal(), testing::HasSubstr("an integer of at least 2"));
  cluster.accelerators->messages->near.reset();
  cluster.accelerators->messages->local->accelerators = 2;
  EXPECT_THAT(refusal(), testing::HasSubstr("in `near` only"));
  cluster.accelerators = example_accelerators();
  cluster.accelerators->per_host = 0;
  EXPECT_THAT(refusal(), testing::HasSubstr("/accelerators/per_host`: found 0; expected a number above 0"));
}

TEST(ClusterJson, ARoundTripChangesNothing) {
  const std::string first = text_of(example());
  std::istringstream in(first);
  const ClusterModel back = read_cluster(in, "c.json");
  EXPECT_EQ(text_of(back), first);
  EXPECT_EQ(back.kernels.at("dgemm").law(1, 1).at({}).mean_s({10, 10, 128}),
            example().kernels.at("dgemm").law(1, 1).at({}).mean_s({10, 10, 128}));
  EXPECT_EQ(parameters_of(back.network.values().topology), "2;1,2;1,2;1,1");
  EXPECT_TRUE(back.network.values().growing_probes);
  EXPECT_TRUE(back.network.values().late_probes);
  EXPECT_TRUE(back.network.values().remote->half_duplex);
  EXPECT_EQ(back.network.values().remote->first_use_s_per_byte, 2e-9);
  EXPECT_DOUBLE_EQ(back.network.values().remote->panels.value().mean_s(1e6), 5.2e-5);
  EXPECT_EQ(back.network.values().remote->exchange_cost_s(1e6), 1e-6 + 3e-11 * 1e6);
  EXPECT_FALSE(back.network.values().local.panels);
  EXPECT_FALSE(back.network.values().local.half_duplex);
  ASSERT_EQ(back.detours.size(), 1U);
  EXPECT_EQ(back.detours[0].share(), 0.01);
  Uncertainty uncertainty = back.uncertainty.value();
  EXPECT_EQ(uncertainty.of(ErrorGroup::messages)->nu, 15);
  EXPECT_FALSE(uncertainty.of(ErrorGroup::dgemm));
  EXPECT_EQ(cluster_sha256(back), cluster_sha256(example()));
}

TEST(ClusterJson, TheHashSeesEveryCoefficient) {
  ClusterModel other = example();
  other.hosts = Hosts::make({"n-[1-2]", 4, 2, {RankToCpu::Kind::list, {0, 1, 1, 0}}, 1.5e10 + 1});
  EXPECT_NE(cluster_sha256(other), cluster_sha256(example()));
}

TEST(ClusterJson, PiecesRoundTripAlone) {
  const ClusterModel cluster = example();
  std::istringstream kernels("{\"dgemm\": " + kernel_model_json(cluster.kernels.at("dgemm")) + "}");
  EXPECT_EQ(kernel_model_json(read_kernel_models(kernels, "k").at("dgemm")),
            kernel_model_json(cluster.kernels.at("dgemm")));
  std::istringstream network(network_model_json(cluster.network));
  EXPECT_EQ(network_model_json(read_network_model(network, "n")), network_model_json(cluster.network));
}

/// Every file in tests/core/bad has a file NAME.expected beside it with a part of the message.
TEST(ClusterJson, RefusesBadFilesWithTheirReason) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(bad_folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    std::ifstream reason(fs::path(entry.path()).replace_extension(".expected"));
    std::string expected;
    std::getline(reason, expected);
    ASSERT_FALSE(expected.empty()) << entry.path();
    EXPECT_THAT(tests::error_in([&] { read_cluster(in, entry.path().filename()); }), ::testing::HasSubstr(expected))
        << entry.path();
    ++files;
  }
  EXPECT_GE(files, 10);
}

TEST(ClusterJson, CallsWithoutWorkAreOfVersion12) {
  ClusterModel cluster = example();
  cluster.empty_call_s = {{"dgemm", 1.3e-4}};
  EXPECT_EQ(cluster.needed_schema_version(), 12);
  std::stringstream text;
  write_cluster(text, cluster);
  EXPECT_EQ(read_cluster(text, "cluster.json").empty_call_s, cluster.empty_call_s);
  for (const auto& [name, duration_s] : {std::pair("zgemm", 1.0), std::pair("dgemm", 0.0)}) {
    cluster.empty_call_s = {{name, duration_s}};
    std::stringstream bad;
    write_cluster(bad, cluster);
    EXPECT_THAT(tests::error_in([&] { read_cluster(bad, "cluster.json"); }), ::testing::HasSubstr("/empty_call_s"));
  }
}

TEST(ClusterJson, AliasedColumnsAreOfVersion11) {
  ClusterModel cluster = example();
  cluster.aliased = {{4096, {{"dgemm", {1.05, 0}}, {"dcopy", {1.7, 0}}, {"dtrsm", {1.2, 0}}}},
                     {16384, {{"dgemm", {1.5, 0}}, {"dscal", {1.02, 0.03}}, {"dtrsm", {1.01, 0.2}}}}};
  EXPECT_EQ(cluster.needed_schema_version(), 11);
  std::stringstream text;
  write_cluster(text, cluster);
  const ClusterModel again = read_cluster(text, "cluster.json");
  EXPECT_EQ(cluster_sha256(again), cluster_sha256(cluster));
  EXPECT_EQ(aliased_ratio(again, "dgemm", 2568), 1);
  EXPECT_EQ(aliased_ratio(again, "dgemm", 2560), 1.05);
  EXPECT_EQ(aliased_ratio(again, "dgemm", 3072), 1.05) << "of 8192 bytes: what holds for 4096";
  EXPECT_EQ(aliased_ratio(again, "dgemm", 3 * 4096), 1.5);
  EXPECT_EQ(aliased_ratio(again, "dscal", 2560), 1);
  EXPECT_EQ(aliased_ratio(again, "dscal", 3 * 4096), 1) << "within its standard error";
  EXPECT_EQ(aliased_ratio(again, "dcopy", 3 * 4096), 1.7) << "16384 bytes are a multiple of 4096, too";
  EXPECT_EQ(aliased_ratio(again, "dtrsm", 3 * 4096), 1.2) << "nothing is told at 16384, within a standard error";
  cluster.aliased.front().bytes = 5000;
  std::stringstream bad;
  write_cluster(bad, cluster);
  EXPECT_THAT(tests::error_in([&] { read_cluster(bad, "cluster.json"); }),
              ::testing::HasSubstr("a power of two of at least 4096"));
}

TEST(ClusterJson, FrequenciesThatChangeNeedVersion9) {
  ClusterModel cluster = example();
  PowerModel::Values power = example_power().values();
  FrequencySchedule schedule;
  schedule.hosts = "n-2";
  schedule.cpu = 1;
  schedule.period_s = 10;
  schedule.at_s = {0, 2.5};
  schedule.hz = {2.3e9, 1.2e9};
  PowerController controller;
  controller.hosts_per_group = 1;
  controller.cap_w = 400;
  controller.period_s = 0.5;
  power.frequency->schedules = {schedule};
  power.frequency->controllers = {controller};
  cluster.power = PowerModel::make(power);
  const std::string first = text_of(cluster);
  EXPECT_THAT(first, testing::HasSubstr("\"schema_version\": 9,"));
  std::istringstream again(first);
  EXPECT_EQ(text_of(read_cluster(again, "text")), first);
  nlohmann::json json = nlohmann::json::parse(first);
  json["power"]["frequency"]["controllers"][0]["cap_w"] = 100;
  std::istringstream low(json.dump());
  EXPECT_THAT(tests::error_in([&] { (void)read_cluster(low, "text"); }), testing::HasSubstr("cap_w"));
}

}  // namespace
}  // namespace hplcast::core
