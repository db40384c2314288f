#include "cli/campaign/campaign_yaml.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>

#include "cli/campaign/campaign_section.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace fs = std::filesystem;

namespace {

/// Number of hosts of the Slurm job around us; 0: there is none.
int slurm_hosts() {
  const char* count = std::getenv("SLURM_JOB_NUM_NODES");
  return count == nullptr ? 0 : std::max(1, std::atoi(count));
}

/// Nodes of the Slurm job around us; nothing without one, or without its commands.
std::vector<std::string> slurm_nodes() {
  const char* const list = std::getenv("SLURM_JOB_NODELIST");
  if (list == nullptr || core::find_program("scontrol").empty()) return {};
  return core::words_of(core::run({"scontrol", {"show", "hostnames", list}}).output);
}

/// Who measures: the hosts of the file, those of the Slurm job (the launcher knows them), or this machine.
void read_launch(Section& section, calibration::CampaignPlan& plan, CampaignCommon& common) {
  const int cores = static_cast<int>(calibration::Topology::of_this_machine().cores().size());
  std::vector<std::string> hosts;
  section.read("hosts", hosts);
  if (std::set<std::string>(hosts.begin(), hosts.end()).size() < hosts.size())
    section.fail("hosts", "a name is there twice; expected each once, `ranks_per_host` says how many ranks it gets");
  plan.hosts = hosts;
  int& threads = plan.launch.threads;
  std::string place;
  section.read("threads_per_rank", place);
  if (!place.empty() && std::isalpha(static_cast<unsigned char>(place.front())) != 0) {
    section.at("threads_per_rank", [&] { threads = calibration::Topology::of_this_machine().cores_per(place); });
  } else {
    section.read("threads_per_rank", threads);
  }
  if (threads < 1) section.fail("threads_per_rank", "expected at least 1");
  int ranks_per_host = std::max(1, cores / threads);
  section.read("ranks_per_host", ranks_per_host);
  if (ranks_per_host < 1) section.fail("ranks_per_host", "expected at least 1");
  section.read("allow_oversubscription", plan.launch.oversubscribe);
  const bool alone = hosts.empty() && slurm_hosts() == 0;
  if (threads > 1 && plan.launch.oversubscribe)
    section.fail("threads_per_rank", "ranks that share cores have one thread each");
  if (alone && static_cast<long long>(ranks_per_host) * threads > cores && !plan.launch.oversubscribe) {
    const std::string here = "this machine has " + std::to_string(cores) + " cores";
    if (threads > 1)
      section.fail("threads_per_rank", here + "; expected at most as many for " + std::to_string(ranks_per_host) +
                                           " ranks of " + std::to_string(threads) + " threads");
    section.fail("ranks_per_host", here + "; `allow_oversubscription: true` allows it, and marks the results");
  }
  section.read("bind", plan.launch.bind);
  if (std::string blas; section.has("blas")) {
    section.read("blas", blas);
    plan.launch.blas = core::blas_of_library(blas).file;
  }
  const int host_count = static_cast<int>(hosts.empty() ? std::max(1, slurm_hosts()) : hosts.size());
  if (ranks_per_host > std::numeric_limits<int>::max() / host_count)
    section.fail("ranks_per_host", "expected fewer than 2^31 ranks on all hosts");
  plan.launch.ranks = ranks_per_host * host_count;
  common.ranks_per_host = ranks_per_host;
  common.several_hosts = host_count > 1;
  common.ranks = plan.launch.ranks;
  common.oversubscribe = plan.launch.oversubscribe;
  if (alone) common.free_bytes = calibration::available_memory_bytes();
  section.read("launcher", plan.launch.mpirun);
  // Slurm's own launcher knows the nodes of the job; Open MPI's is for lists of hosts.
  if (!section.has("launcher") && hosts.empty() && slurm_hosts() > 0 && !core::find_program("srun").empty())
    plan.launch.mpirun = "srun";
  const bool is_srun = fs::path(plan.launch.mpirun).filename() == "srun";
  // Unless it is told, mpirun fills the first node of a job before it takes the next.
  const std::vector<std::string> places = hosts.empty() && !is_srun ? slurm_nodes() : hosts;
  const auto options_of = [&](int ranks) -> std::vector<std::string> {
    if (places.empty()) return {};
    return {"--host", core::joined(places, ",", [&](const auto& host) { return host + ":" + std::to_string(ranks); })};
  };
  plan.launch.options = options_of(ranks_per_host);
  core::MpiLaunch each = plan.launch;
  each.ranks = host_count;
  each.threads = 1;
  each.bind = each.oversubscribe = false;
  each.blas.clear();
  each.options = options_of(1);
  // The steps of a job share its nodes only if they say so.
  if (is_srun) {
    each.options = {"--nodes=" + std::to_string(host_count), "--ntasks-per-node=1", "--overlap"};
  } else if (places.empty()) {
    each.options = {"--map-by", "ppr:1:node"};
  }
  std::vector<std::string> more;
  section.read("launcher_options", more);
  for (core::MpiLaunch* one : {&plan.launch, &each}) one->options.insert(one->options.end(), more.begin(), more.end());
  if (!alone) plan.each_host = each;
}

/// How hosts have to be set up, and what stops the campaign.
void read_surroundings(Section& section, calibration::CampaignPlan& plan) {
  const auto settings = [&](const char* key, bool to_set, calibration::Settings& into) {
    section.read(key, into);
    section.at(key, [&] { calibration::require_known(into, to_set); });
  };
  settings("require", false, plan.required);
  settings("set", true, plan.set);
  for (const auto& [name, value] : plan.set)
    if (const auto required = plan.required.find(name); required != plan.required.end() && required->second != value)
      section.fail("set", name + " gets the value " + value + ", and `require` demands " + required->second);
  std::map<std::string, std::string> limits;
  section.read("limits", limits);
  const std::map<std::string, std::optional<double>*> known = {
      {"temperature", &plan.limits.temperature_celsius}, {"power", &plan.limits.power_w}, {"load", &plan.limits.load}};
  for (const auto& [name, text] : limits) {
    const auto limit = known.find(name);
    if (limit == known.end())
      section.fail("limits", "found `" + name + "`; expected temperature (degrees Celsius), power (W) or load (tasks)");
    double value = 0;
    if (!core::parse_double(text, value) || !(value > 0))
      section.fail("limits", name + " is `" + text + "`; expected a number above 0, without a unit");
    *limit->second = value;
  }
  if (!plan.monitoring && (plan.limits.temperature_celsius || plan.limits.power_w))
    section.fail("limits", "temperature and power are looked at by `monitoring`, which is off");
}

calibration::CampaignPlan plan_of(const YAML::Node& root, const std::string& text, const std::string& name,
                                  const fs::path& programs) {
  Section section(root, name, "");
  calibration::CampaignPlan plan;
  plan.source = text;
  plan.measure_dgemm = programs / "hplcast-measure-dgemm";
  CampaignCommon common;
  common.programs = programs;
  section.read("name", plan.name);
  if (plan.name.empty() || plan.name.find('/') != std::string::npos)
    section.fail("name", "expected a name, without slashes");
  section.read("seed", common.seed);
  plan.seed = common.seed;
  section.read("control", plan.control);
  section.read_quantity("warm_up", plan.warm_up_s, core::parse_seconds);
  section.read_quantity("chunk", plan.chunk_s, core::parse_seconds);
  if (!(plan.chunk_s > 0)) section.fail("chunk", "expected a time above 0");
  section.read("monitoring", plan.monitoring);
  section.read("strict", plan.strict);
  read_surroundings(section, plan);
  read_launch(section, plan, common);
  const YAML::Node steps = section.list("steps");
  if (!steps.IsDefined() || steps.size() == 0) section.fail("steps", "expected a list with at least one step");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string left_out;
    for (calibration::CampaignStep& step : read_step(steps[i], name, i, common, left_out)) {
      if (left_out.empty()) {
        plan.steps.push_back(std::move(step));
      } else {
        plan.notes.push_back(step.name + " is left out: " + left_out);
      }
    }
  }
  if (plan.steps.empty()) section.fail("steps", "nothing to measure: " + plan.notes.front());
  if (double total_s = 0; section.has("duration")) {
    section.read_quantity("duration", total_s, core::parse_seconds);
    section.at("duration", [&] { shorten(plan, total_s); });
  }
  section.finish();
  return plan;
}

}  // namespace

calibration::CampaignPlan read_campaign(const std::string& text, const std::string& name, const fs::path& programs) {
  return study::with_yaml(text, name, [&](const YAML::Node& root) { return plan_of(root, text, name, programs); });
}

}  // namespace hplcast::cli
