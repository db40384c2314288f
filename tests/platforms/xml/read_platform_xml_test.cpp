#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/doubts.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/platforms/platform_xml.hpp"
#include "tests/support/errors_in.hpp"
#include "tests/support/example_cluster.hpp"

namespace hplcast::platforms {
namespace {

using core::MessageCost;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ImportedPlatform imported(const std::string& text, const std::string& zone = "",
                          const core::ClusterModel* models = nullptr) {
  std::istringstream in(text);
  return read_platform_xml(in, "p.xml", zone, models);
}

/// A platform with this in it; without costs of messages of its own but these.
std::string platform(const std::string& zones, const std::string& settings = "") {
  return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<config><prop id=\"smpi/bw-factor\" value=\"1\"/><prop id='smpi/lat-factor' "
         "value='1'/><prop id=\"network/crosstraffic\" value=\"0\"/>" +
         settings + "</config>\n" + zones + "\n</platform>\n";
}

std::string cluster(const std::string& more = "") {
  return "<cluster id=\"c\" prefix=\"n-\" radical=\"0-3\" suffix=\".org\" speed=\"2Gf\" core=\"4\" bw=\"10Gbps\" "
         "lat=\"2us\" loopback_bw=\"4GBps\" loopback_lat=\"100ns\" " +
         more + "/>";
}

double remote_s(const core::ClusterModel& cluster, double bytes) {
  return cluster.network.values().remote->cost(MessageCost::transfer).mean_s(bytes);
}

/// What platform.xml says of a cluster and comes back: costs to the rounding of factors.
void expect_round_trip(const core::ClusterModel& model) {
  std::ostringstream out;
  write_platform_xml(out, model);
  const core::ClusterModel back = imported(out.str()).cluster;
  EXPECT_EQ(back.hosts.names(), model.hosts.names());
  EXPECT_EQ(back.hosts.most_cores(), model.hosts.most_cores());
  const core::NetworkModel::Values &is = back.network.values(), &was = model.network.values();
  EXPECT_STREQ(core::kind_of(is.topology), core::kind_of(was.topology));
  EXPECT_EQ(core::parameters_of(is.topology), core::parameters_of(was.topology));
  EXPECT_EQ(is.async_small_bytes, was.async_small_bytes);
  EXPECT_EQ(is.detached_bytes, was.detached_bytes);
  EXPECT_EQ(is.iprobe_s, was.iprobe_s);
  EXPECT_EQ(is.wtime_s, was.wtime_s);
  EXPECT_EQ(is.growing_probes, was.growing_probes);
  EXPECT_DOUBLE_EQ(is.remote->latency_s, was.remote->latency_s);
  EXPECT_DOUBLE_EQ(is.remote->link_bytes_per_s(), was.remote->link_bytes_per_s());
  EXPECT_DOUBLE_EQ(is.local.latency_s, was.local.latency_s);
  EXPECT_DOUBLE_EQ(is.local.link_bytes_per_s(), was.local.link_bytes_per_s());
  EXPECT_EQ(is.local.capacity.has_value(), was.local.capacity.has_value());
  for (const MessageCost cost : {MessageCost::send, MessageCost::isend, MessageCost::recv, MessageCost::transfer})
    for (const double bytes : {1.0, 100.0, 7999.0, 8000.0, 63998.0, 63999.0, 64000.0, 1e6, 1e9}) {
      const double expected = was.remote->cost(cost).mean_s(bytes);
      EXPECT_NEAR(is.remote->cost(cost).mean_s(bytes), expected, 1e-12 * expected) << static_cast<int>(cost);
    }
}

TEST(ImportedPlatform, HasWhatEmitHasWritten) {
  core::ClusterModel example = tests::example_cluster(true);
  expect_round_trip(example);
  example.hosts = core::Hosts::make({"n-[1-2,5,7-11].x", 4, 1, {}, 0});
  for (const core::Topology& topology :
       {core::Topology(core::FatTree{{2, 4}, {1, 2}, {1, 1}}), core::Topology(core::Torus{{2, 2, 2}}),
        core::Topology(core::Dragonfly{{2, 1}, {2, 1}, {2, 1}, 1}),
        core::Topology(core::SingleSwitch{core::Backbone{2.5e10, 1e-7}})}) {
    SCOPED_TRACE(core::kind_of(topology));
    expect_round_trip(tests::with_network(example, [&](auto& network) { network.topology = topology; }));
  }
  const std::string path = std::string(HPLCAST_SOURCE_DIR) + "/examples/dahu-like.json";
  expect_round_trip(core::read_from(path, core::read_cluster));
}

TEST(ImportedPlatform, MessagesTakeTheLinksOfTheirRoute) {
  const ImportedPlatform one = imported(platform(cluster("bb_bw=\"5Gbps\" bb_lat=\"1us\"")));
  EXPECT_THAT(one.losses, IsEmpty());
  EXPECT_THAT(one.cluster.hosts.names(), ElementsAre("n-0.org", "n-1.org", "n-2.org", "n-3.org"));
  EXPECT_EQ(one.cluster.hosts.values().cores, 4);
  // 2 + 1 + 2 us, then the message and its envelope at the rate of the backbone.
  EXPECT_NEAR(remote_s(one.cluster, 1e6), 5e-6 + 1000016 / 6.25e8, 1e-12);
  EXPECT_DOUBLE_EQ(one.cluster.network.values().remote->link_bytes_per_s(), 1.25e9);
  EXPECT_NEAR(one.cluster.network.values().local.cost(MessageCost::transfer).mean_s(1e6), 1e-7 + 1000016 / 4e9, 1e-15);
}

// SimGrid's documentation: the factors of SMPI, and the window of TCP.
TEST(ImportedPlatform, WithoutCostsMessagesHaveThoseOfSmpi) {
  const std::string text = "<platform version=\"4.1\">" + cluster() + "</platform>";
  const ImportedPlatform one = imported(text);
  EXPECT_NEAR(remote_s(one.cluster, 1e6), 11.6436 * 4e-6 + 1000016 / (0.940694 * 1.25e9), 1e-9);
  EXPECT_NEAR(remote_s(one.cluster, 1), 2.01467 * 4e-6 + 17 / (0.812084 * 1.25e9), 1e-12);
  EXPECT_NEAR(remote_s(one.cluster, 257 - 16), 2.01467 * 4e-6 + 257 / (0.812084 * 1.25e9), 1e-12) << "up to the bound";
  EXPECT_EQ(one.cluster.network.values().detached_bytes, 65536U);
  EXPECT_THAT(one.losses, Contains(HasSubstr("SMPI's own costs")));
  EXPECT_THAT(one.losses, Contains(HasSubstr("bandwidth factors above 1"))) << "5776:1.08739";
  const ImportedPlatform slow = imported(platform(cluster(),
                                                  "<prop id=\"network/TCP-gamma\" value=\"4000\"/><prop id=\"smpi/os\" "
                                                  "value=\"0:1e-6:0;1000:2e-6:1e-9\"/>"));
  EXPECT_NEAR(remote_s(slow.cluster, 1e6), 4e-6 + 1000016 / (4000 / 8e-6), 1e-9);
  const core::SegmentedLaw& send = slow.cluster.network.values().remote->cost(MessageCost::send);
  EXPECT_DOUBLE_EQ(send.mean_s(1000), 1e-6);
  EXPECT_DOUBLE_EQ(send.mean_s(1001), 2e-6 + 1.001e-6);
}

std::string routed(const std::string& routing, const std::string& routes) {
  return "<zone id=\"z\" routing=\"" + routing +
         "\"><host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"2Gf,1Gf\"/><host id=\"c\" speed=\"1Gf\" core=\"2\"/>"
         "<router id=\"r\"/>"
         "<link id=\"la\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>"
         "<link id=\"lb\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>"
         "<link id=\"lc\" bandwidth=\"0.5GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>"
         "<link id=\"slow\" bandwidth=\"0.25GBps\" latency=\"9us\"/>" +
         routes + "</zone>";
}

std::string route(const std::string& from, const std::string& to, const std::vector<std::string>& links) {
  return "<route src=\"" + from + "\" dst=\"" + to + "\">" +
         core::joined(links, "", [](const std::string& id) { return "<link_ctn id=\"" + id + "\"/>"; }) + "</route>";
}

TEST(ImportedPlatform, RoutesOverOneLinkOfEachHostAreASwitch) {
  const std::string full =
      route("a", "b", {"la_UP", "lb_DOWN"}) + route("a", "c", {"la", "lc"}) + route("b", "c", {"lb", "lc"});
  const std::string by_router = route("a", "r", {"la"}) + route("r", "b", {"lb"}) + route("r", "c", {"lc"});
  for (const std::string& zone : {routed("Full", full), routed("Floyd", by_router), routed("Dijkstra", by_router)}) {
    const ImportedPlatform one = imported(platform(zone));
    EXPECT_THAT(one.losses, IsEmpty());
    EXPECT_NEAR(remote_s(one.cluster, 1e6), 2e-6 + 1000016 / 1e9, 1e-12);
    EXPECT_DOUBLE_EQ(one.cluster.hosts.link_share_of(0), 1);
    EXPECT_DOUBLE_EQ(one.cluster.hosts.link_share_of(2), 0.5);
    EXPECT_EQ(one.cluster.hosts.cores_of(2), 2);
    EXPECT_DOUBLE_EQ(one.cluster.network.values().local.link_bytes_per_s(), 498e6) << "SimGrid's loopback";
  }
}

TEST(ImportedPlatform, TellsWhatASwitchCannotSay) {
  const ImportedPlatform odd = imported(platform(routed(
      "Full", route("a", "b", {"la", "lb"}) + route("a", "c", {"la", "slow", "lc"}) + route("b", "c", {"lb", "lc"}))));
  EXPECT_THAT(odd.losses, Contains(HasSubstr("neither of one host nor of all: 1")));
  EXPECT_THAT(odd.losses, Contains(AllOf(HasSubstr("2 of 6 routes differ"), HasSubstr("up to 11 us"),
                                         HasSubstr("down to 250 MB/s"), HasSubstr("median latency, 2 us"))));
  const ImportedPlatform more = imported(
      "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\"><cluster id=\"c\" prefix=\"n\" radical=\"1,3\" "
      "suffix=\"\" speed=\"1Gf\" bw=\"1GBps\" lat=\"0\" sharing_policy=\"SHARED\" limiter_link=\"1GBps\"><prop "
      "id=\"watt\" value=\"1\"/></cluster></zone><zone id=\"v\" routing=\"Vivaldi\"><peer "
      "id=\"p\"/></zone></platform>");
  for (const char* loss : {"property watt", "limiter_link of <cluster>", "zone v with routing Vivaldi", "no loopback",
                           "SHARED links", "network/crosstraffic"})
    EXPECT_THAT(more.losses, Contains(HasSubstr(loss)));
}

TEST(ImportedPlatform, TellsOfCostsInsideAHostThatItDoesNotRead) {
  const std::string factor = "<prop id=\"smpi/loopback-bw-factor\" value=\"0:0.176;16000:0.121\"/>";
  EXPECT_THAT(imported(platform(cluster())).losses, Not(Contains(HasSubstr("loopback-"))));
  EXPECT_THAT(imported(platform(cluster(), factor)).losses, Contains(HasSubstr("not read: smpi/loopback-bw-factor")));
}

TEST(ImportedPlatform, TakesSimGridsWordsForSwitches) {
  const auto with = [](const std::string& word) {
    std::string text = platform(cluster(), "<prop id=\"smpi/grow-injected-times\" value=\"" + word + "\"/>");
    const std::string off = "network/crosstraffic\" value=\"0";
    return imported(text.replace(text.find(off), off.size(), "network/crosstraffic\" value=\"" + word));
  };
  for (const char* word : {"yes", "on", "true", "1"}) {
    EXPECT_TRUE(with(word).cluster.network.values().growing_probes) << word;
    EXPECT_THAT(with(word).losses, Contains(HasSubstr("network/crosstraffic"))) << word;
  }
  for (const char* word : {"no", "off", "false", "0"}) {
    EXPECT_FALSE(with(word).cluster.network.values().growing_probes) << word;
    EXPECT_THAT(with(word).losses, Not(Contains(HasSubstr("network/crosstraffic")))) << word;
  }
  EXPECT_THAT(tests::error_in([&] { with("maybe"); }), HasSubstr("found `maybe`; expected yes or no"));
}

/// Cabinets on a backbone, as Grid'5000's griffon had them: hosts with links of 10 Gb/s, of the second 1 Gb/s.
std::string cabinets(const std::string& third = "") {
  const auto cabinet = [](const std::string& id, const std::string& radical, const std::string& bandwidth) {
    return "<cluster id=\"" + id + "\" prefix=\"g-\" radical=\"" + radical + "\" suffix=\".org\" speed=\"2Gf\" bw=\"" +
           bandwidth + "\" lat=\"2us\" bb_bw=\"8GBps\" bb_lat=\"1us\"/>";
  };
  const auto joined = [](const std::string& a, const std::string& b) {
    return "<zoneRoute src=\"" + a + "\" dst=\"" + b + "\" gw_src=\"g-" + a + "_router.org\" gw_dst=\"g-" + b +
           "_router.org\"><link_ctn id=\"between\"/></zoneRoute>";
  };
  return "<zone id=\"griffon\" routing=\"Full\">" + cabinet("c1", "1-3,8", "10Gbps") + cabinet("c2", "4-7", "1Gbps") +
         (third.empty() ? "" : cabinet("c3", "9", "10Gbps")) +
         "<link id=\"between\" bandwidth=\"5Gbps\" latency=\"24us\"/>" + joined("c1", "c2") + third + "</zone>";
}

TEST(ImportedPlatform, ZonesWithARouteBetweenThemAreGroupsOfHosts) {
  const core::ClusterModel one = imported(platform(cabinets())).cluster;
  EXPECT_EQ(one.name, "griffon");
  EXPECT_THAT(one.hosts.names(),
              ElementsAre("g-1.org", "g-2.org", "g-3.org", "g-8.org", "g-4.org", "g-5.org", "g-6.org", "g-7.org"));
  const auto& groups = std::get<core::HostGroups>(one.network.values().topology);
  EXPECT_THAT(groups.groups, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_NEAR(groups.extra_latency_s, 24e-6 + 1e-6, 1e-12) << "the link and the backbone of the other cabinet";
  EXPECT_DOUBLE_EQ(groups.bandwidth_share, 1) << "5 Gb/s to hosts of 1 Gb/s";
  EXPECT_DOUBLE_EQ(one.hosts.link_share_of(0), 1);
  EXPECT_DOUBLE_EQ(one.hosts.link_share_of(4), 0.1);
  EXPECT_NEAR(remote_s(one, 1e6), 5e-6 + 1000016 / 1.25e9, 1e-12);
}

TEST(ImportedPlatform, TellsWhatGroupsOfHostsCannotSay) {
  const auto losses = [](const std::string& zones) { return imported(platform(zones)).losses; };
  const std::string slow =
      "<link id=\"slow\" bandwidth=\"1MBps\" latency=\"1ms\"/>"
      "<zoneRoute src=\"c3\" dst=\"c2\" gw_src=\"g-c3_router.org\" gw_dst=\"g-c2_router.org\"><link_ctn "
      "id=\"slow\"/></zoneRoute>";
  EXPECT_THAT(losses(cabinets(slow)), AllOf(Contains(HasSubstr("not those between the zones")),
                                            Contains(HasSubstr("zone c1: messages do not share its backbone")),
                                            Contains(HasSubstr("2 of 3 routes between zones differ (up to 1.03 ms"))));
  std::string fat = cabinets();
  fat.insert(fat.find(" bb_bw"), " topology=\"TORUS\" topo_parameters=\"2,2\"");
  EXPECT_THAT(losses(fat), Contains(HasSubstr("zone c1: torus, here a switch")));
  const ImportedPlatform smpi = imported("<platform version=\"4.1\">" + cabinets() + "</platform>");
  EXPECT_THAT(smpi.losses, Contains(HasSubstr("latency between zones has that of the shortest messages")));
  EXPECT_NEAR(std::get<core::HostGroups>(smpi.cluster.network.values().topology).extra_latency_s, 2.01467 * 25e-6,
              1e-12);
}

TEST(ImportedPlatform, BlasRunsAtTheSpeedOfTheHostOrByTheModelsOfAnother) {
  const std::string zone =
      routed("Full", route("a", "b", {"la", "lb"}) + route("a", "c", {"la", "lc"}) + route("b", "c", {"lb", "lc"}));
  const core::ClusterModel one = imported(platform(zone)).cluster;
  const core::KernelShape shape{100, 200, 50};
  const core::KernelModel& dgemm = one.kernels.at("dgemm");
  EXPECT_DOUBLE_EQ(dgemm.law(0, 0).at(shape).mean_s(shape), 2e6 / 1e9);
  EXPECT_DOUBLE_EQ(dgemm.law(1, 0).at(shape).mean_s(shape), 2e6 / 2e9) << "the first of its states";
  EXPECT_EQ(core::verdict_on(core::recorded_flags(one)).reasons.front().flag, "not_calibrated");

  core::ClusterModel models = tests::example_cluster(true);
  models.aliased.push_back({4096, {{"dgemm", {1.1, 0.01}}}});
  models.empty_call_s = {{"dgemm", 1e-6}};
  const core::ClusterModel calibrated = imported(platform(zone), "", &models).cluster;
  EXPECT_EQ(calibrated.aliased.size(), 1U);
  EXPECT_EQ(calibrated.empty_call_s, models.empty_call_s);
  EXPECT_EQ(calibrated.kernels.size(), models.kernels.size());
  EXPECT_THAT(calibrated.kernels.at("dgemm").overrides(), IsEmpty()) << "those hosts are not here";
  EXPECT_EQ(core::verdict_on(core::recorded_flags(calibrated)).reasons.front().flag, "imported");
}

TEST(ImportedPlatform, RefusesWhatItCannotReadWithTheLine) {
  const auto error = [](const std::string& text, const std::string& zone = "") {
    return tests::error_in([&] { imported(text, zone); });
  };
  EXPECT_THAT(error(""), HasSubstr("no element"));
  EXPECT_THAT(error("{\"schema_version\": 4}"), HasSubstr("no element"));
  EXPECT_THAT(error("<html/>"), HasSubstr("no <platform>"));
  EXPECT_THAT(error("<platform>\n<zone id=\"z\">\n</platform>"), HasSubstr("p.xml:3"));
  EXPECT_THAT(error("<platform>\n<zone id=\"z\""), HasSubstr("`<` without `>`"));
  EXPECT_THAT(error("<platform>\n<zone id=\"z\">"), AllOf(HasSubstr("p.xml:2"), HasSubstr("expected </zone>")));
  EXPECT_THAT(error("<platform>\n<zone id=z/></platform>"),
              AllOf(HasSubstr("p.xml:2"), HasSubstr("attributes such as")));
  EXPECT_THAT(error("<platform>\n<zone id='z' id='y'/></platform>"), HasSubstr("`id` twice"));
  std::string deep = "<platform>";
  for (int i = 0; i < 200000; ++i) deep += "<zone>";
  EXPECT_THAT(error(deep), HasSubstr("elements inside of 100 others"));
  EXPECT_THAT(error("<platform>\xff</platform>"), HasSubstr("UTF-8"));
  EXPECT_THAT(error(platform("")), HasSubstr("no hosts"));
  EXPECT_THAT(error(platform(cluster() + "<cluster id=\"d\" prefix=\"m\" radical=\"1\" suffix=\"\" speed=\"1Gf\" "
                                         "bw=\"1GBps\" lat=\"1us\"/>")),
              AllOf(HasSubstr("no route from the zone c to the zone d"), HasSubstr("--zone")));
  EXPECT_THAT(error(platform(cluster()), "x"), AllOf(HasSubstr("no zone `x`"), HasSubstr("expected c")));
  EXPECT_THAT(error(platform("<cluster id=\"c\" prefix=\"n\" radical=\"1-2\" suffix=\"\" bw=\"1GBps\" lat=\"1us\"/>")),
              AllOf(HasSubstr("p.xml:5"), HasSubstr("no attribute `speed`")));
  EXPECT_THAT(error(platform("<cluster id=\"c\" prefix=\"n\" radical=\"5-2\" suffix=\"\" speed=\"1Gf\" bw=\"1GBps\" "
                             "lat=\"1us\"/>")),
              HasSubstr("goes down"));
  for (const char* wrong :
       {"speed=\"1GB\"", "speed=\"0f\"", "bw=\"fast\"", "lat=\"-1us\"", "core=\"0\"", "core=\"x\""}) {
    const std::string key = std::string(wrong).substr(0, std::string(wrong).find('='));
    std::string text = cluster();
    const std::size_t begin = text.find(" " + key + "=") + 1;
    text.replace(begin, text.find('"', begin + key.size() + 2) + 1 - begin, wrong);
    EXPECT_THAT(error(platform(text)), AllOf(HasSubstr("p.xml:5"), HasSubstr(key))) << wrong;
  }
  EXPECT_THAT(error(platform(cluster("topology=\"TORUS\" topo_parameters=\"3,2\""))), HasSubstr("expected 6"));
  EXPECT_THAT(error(platform("<zone id=\"z\" routing=\"Full\"><host id=\"a,b\" speed=\"1Gf\"/></zone>")),
              HasSubstr("id=\"a,b\"; expected a name without"));
  EXPECT_THAT(error(platform(cluster("topology=\"RING\""))), HasSubstr("ring"));
  EXPECT_THAT(error(platform(routed("Full", route("a", "b", {"la"})))), HasSubstr("no route from a to c"));
  EXPECT_THAT(error(platform(routed("Full", route("a", "b", {"none"})))), HasSubstr("the link `none`"));
  EXPECT_THAT(error(platform(routed("Full", route("a", "x", {"la"})))), HasSubstr("`x`"));
  EXPECT_THAT(error(platform(routed("Cluster", ""))), HasSubstr("no <host_link>"));
  for (const char* routing : {"Full", "Cluster"})
    EXPECT_THAT(error(platform(std::string("<zone id=\"w\" routing=\"Full\"><zone id=\"p\" routing=\"") + routing +
                               "\"><peer id=\"p\"/></zone>" + cluster() + "</zone>")),
                HasSubstr("no hosts that can be read"));
  EXPECT_THAT(error(platform(cluster() + cluster()), "c"), HasSubstr("the zone `c` twice"));
  EXPECT_THAT(error(platform(cluster(), "<prop id=\"smpi/iprobe\" value=\"soon\"/>")), HasSubstr("smpi/iprobe"));
  EXPECT_THAT(error(platform(cluster(), "<prop id=\"smpi/os\" value=\"0:a\"/>")), HasSubstr("bound:value"));
}

}  // namespace
}  // namespace hplcast::platforms
