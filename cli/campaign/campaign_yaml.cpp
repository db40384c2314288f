#include "cli/campaign/campaign_yaml.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>

#include "cli/campaign/campaign_section.hpp"
#include "hplcast/calibration/machine.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::cli {

namespace fs = std::filesystem;

namespace {

/// Who measures: the hosts of the file, those of the Slurm job (the launcher knows them), or this machine.
void read_launch(Section& section, calibration::CampaignPlan& plan, CampaignCommon& common) {
  const int cores = static_cast<int>(calibration::Topology::of_this_machine().cores().size());
  std::vector<std::string> lists, hosts;  // node[01-04,7]
  section.read("hosts", lists);
  const char* const job = std::getenv("SLURM_JOB_NODELIST");
  const bool is_job = lists.empty() && job != nullptr && *job != '\0';
  if (is_job) lists.emplace_back(job);
  section.at("hosts", [&] {
    for (const std::string& list : lists) core::append(hosts, core::expand_hosts(list));
  });
  if (std::set<std::string>(hosts.begin(), hosts.end()).size() < hosts.size())
    section.fail("hosts", "a name is there twice; expected each once, `ranks_per_host` says how many ranks it gets");
  if (!is_job) plan.hosts = hosts;
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
  const bool alone = hosts.empty();
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
  const int host_count = alone ? 1 : static_cast<int>(hosts.size());
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
  if (!section.has("launcher") && is_job && !core::find_program("srun").empty()) plan.launch.mpirun = "srun";
  const bool is_srun = fs::path(plan.launch.mpirun).filename() == "srun";
  // Unless it is told, mpirun fills the first node of a job before it takes the next.
  const auto options_of = [&](int ranks) -> std::vector<std::string> {
    if (alone) return {};
    const std::string each = std::to_string(ranks);
    if (is_srun)
      return {"--nodes=" + std::to_string(host_count), "--ntasks-per-node=" + each,
              "--nodelist=" + core::joined(lists, ",")};
    return {"--host", core::joined(hosts, ",", [&](const auto& host) { return host + ":" + each; })};
  };
  plan.launch.options = options_of(ranks_per_host);
  core::MpiLaunch each = plan.launch;
  each.ranks = host_count;
  each.threads = 1;
  each.bind = each.oversubscribe = false;
  each.blas.clear();
  each.options = options_of(1);
  if (is_srun) each.options.emplace_back("--overlap");  // the steps of a job share its nodes only if they say so
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
  double all_s = plan.warm_up_s;
  for (const calibration::CampaignStep& step : plan.steps) all_s += step.estimated_s;
  if (!(all_s < 1e9)) section.fail("steps", "with the warm-up they would take more than 30 years");
  return plan;
}

}  // namespace

calibration::CampaignPlan read_campaign(const std::string& text, const std::string& name, const fs::path& programs) {
  return study::with_yaml(text, name, [&](const YAML::Node& root) { return plan_of(root, text, name, programs); });
}

}  // namespace hplcast::cli
