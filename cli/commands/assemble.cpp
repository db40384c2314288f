#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "cli/support/options.hpp"
#include "hplcast/core/imported.hpp"
#include "hplcast/study/transform.hpp"

namespace hplcast::cli {

namespace {

/// Coefficients that somebody published: which files, and which lines of them.
struct PublishedParts {
  std::string dgemm, model_id;
  std::string kernels, kernel_set = "full_model";
  std::string network, network_id;
  std::string mixtures;
};

struct AssembleOptions {
  std::string name;
  core::Hosts::Values hosts = core::Hosts().values();
  std::string rank_to_cpu = "block";
  std::vector<std::string> kernels;
  std::string network;
  std::string detours;
  std::vector<std::string> kinds;
  PublishedParts published;
  CapacityOptions capacities;
  std::string provenance;
  std::string output;
};

core::RankToCpu parse_rank_to_cpu(const std::string& text) {
  core::RankToCpu result;
  if (text == "block") return result;
  if (text == "cyclic") {
    result.kind = core::RankToCpu::Kind::cyclic;
    return result;
  }
  result.kind = core::RankToCpu::Kind::list;
  for (const std::string& cpu : core::split(text, ',')) {
    int number = 0;
    if (!parse_whole(cpu, number))
      throw core::UsageError("--rank-to-cpu is `" + text + "`; expected block, cyclic, or CPU numbers like 0,0,1,1");
    result.list.push_back(number);
  }
  return result;
}

/// "dahu" of "dahu-1.site".
std::string name_without_number(const std::string& host) {
  const std::string first = host.substr(0, host.find('.'));
  const std::size_t last = first.find_last_not_of("-_0123456789");
  return last == std::string::npos ? first : first.substr(0, last + 1);
}

void add_kernel(std::map<std::string, core::KernelModel>& all, const std::string& path, const std::string& kernel,
                core::KernelModel model) {
  if (!all.emplace(kernel, std::move(model)).second)
    throw core::ParseError({core::is_standard_stream(path) ? "standard input" : path, 0, "/" + kernel},
                           "the kernel " + kernel + " is in another file, too");
}

/// Kernel models of several files; a kernel may stand in one of them only.
std::map<std::string, core::KernelModel> read_kernels(const AssembleOptions& options, const core::Hosts& hosts) {
  std::map<std::string, core::KernelModel> all;
  for (const std::string& path : options.kernels)
    for (auto& [kernel, model] : read_from(path, core::read_kernel_models))
      add_kernel(all, path, kernel, std::move(model));
  const PublishedParts& published = options.published;
  if (!published.dgemm.empty())
    add_kernel(all, published.dgemm, "dgemm",
               read_from(published.dgemm, core::read_dgemm_table, published.model_id, hosts));
  if (!published.kernels.empty()) {
    const core::KernelSet set = published.kernel_set == "full_model" ? core::KernelSet::full : core::KernelSet::simple;
    for (auto& [kernel, model] : read_from(published.kernels, core::read_kernel_table, set))
      add_kernel(all, published.kernels, kernel, std::move(model));
  }
  return all;
}

core::NetworkModel read_network(const AssembleOptions& options) {
  const PublishedParts& published = options.published;
  core::NetworkModel network = published.network.empty()
                                   ? read_from(options.network, core::read_network_model)
                                   : read_from(published.network, core::read_network_table, published.network_id);
  if (!published.mixtures.empty())
    read_from(published.mixtures,
              [&](auto& in, const auto& name) { network = core::with_mixtures(network, in, name); });
  return with_capacities(network, options.capacities);
}

/// Sources of the parts; file names without their folders, which say nothing elsewhere.
std::string provenance_of(const PublishedParts& published) {
  nlohmann::ordered_json assembled = nlohmann::ordered_json::object();
  const auto part = [&](const char* key, const std::string& path, const char* which, const std::string& id) {
    if (path.empty()) return;
    assembled[key] = {{"file", std::filesystem::path(path).filename().string()}};
    if (which != nullptr) assembled[key][which] = id;
  };
  part("dgemm", published.dgemm, "model_id", published.model_id);
  part("kernels", published.kernels, "kernel_set", published.kernel_set);
  part("network", published.network, "network_id", published.network_id);
  part("mixtures", published.mixtures, nullptr, "");
  nlohmann::ordered_json provenance = nlohmann::ordered_json::object();
  if (!assembled.empty()) provenance["assembled_from"] = std::move(assembled);
  return core::json_text(provenance);
}

void run_assemble(const AssembleOptions& options) {
  if (options.kernels.empty() && options.published.dgemm.empty() && options.published.kernels.empty())
    throw core::UsageError("no kernels: give --kernel-fits, or --dgemm and --kernels");
  if (options.network.empty() && options.published.network.empty())
    throw core::UsageError("no network: give --network-fit or --network");
  core::ClusterModel cluster;
  core::Hosts::Values hosts = options.hosts;
  hosts.rank_to_cpu = parse_rank_to_cpu(options.rank_to_cpu);
  cluster.hosts = core::Hosts::make(hosts);
  cluster.name = options.name.empty() ? name_without_number(cluster.hosts.names().front()) : options.name;
  cluster.kernels = read_kernels(options, cluster.hosts);
  cluster.network = read_network(options);
  if (!options.detours.empty()) {
    cluster.detours = read_from(options.detours, core::read_detours);
    core::check_detour_cores(cluster.detours, cluster.hosts.most_cores());
  }
  cluster.provenance = provenance_of(options.published);
  if (!options.provenance.empty()) cluster.provenance = read_from(options.provenance, core::read_provenance);
  for (const std::string& kind : options.kinds) {
    if (std::count(kind.begin(), kind.end(), ':') < 2)
      throw core::UsageError("--kind is `" + kind + "`; expected COUNT:WHICH:CLUSTER.json, such as 8:last:newer.json");
    require_other_file(options.output, {kind.substr(kind.rfind(':') + 1)});
    cluster = study::transformed(std::move(cluster), {{"replace-nodes", kind}});
  }
  write_cluster_file(options.output, cluster);
}

/// The options of published coefficients. A file with many models needs to be told which.
void add_published(Command& command, PublishedParts& parts, const Option* network_fit) {
  const auto add = [&](const char* name, std::string& value, const char* description, const Setting& use) {
    return command.add_option(name, value, description, use, in_group("Published coefficients"));
  };
  Option* dgemm =
      add("--dgemm", parts.dgemm, "dgemm of each CPU: CSV with model_id, node, cpu, mu_*, sigma_*", reads("FILE"));
  Option* model_id = add("--model-id", parts.model_id, "which model of --dgemm", of_type("ID"))->with(needs(dgemm));
  dgemm->with(needs(model_id));
  Option* kernels =
      add("--kernels", parts.kernels, "the other kernels: CSV with kernel, duration, size, mu, sigma", reads("FILE"));
  add("--kernel-set", parts.kernel_set, "full_model: all, with scatter; simple_model: expected times, no copies",
      of_type("SET"))
      ->with(among({"full_model", "simple_model"}), with_default, needs(kernels));
  Option* network = add("--network", parts.network, "JSON list of SMPI calibrations", reads("FILE"));
  Option* network_id =
      add("--network-id", parts.network_id, "which network of --network", of_type("ID"))->with(needs(network));
  network->with(needs(network_id), excludes(network_fit));
  add("--mixtures", parts.mixtures, "JSON of mixtures: the noise of sends and receives", reads("FILE"));
}

}  // namespace

void setup_assemble(Command& app) {
  Command& command = add_command(app, "assemble", "Join fitted models or published coefficients to a cluster.json",
                                 "hplcast assemble --name mine --hosts localhost --cores 2 --kernel-fits kernels.json "
                                 "--network-fit network.json -o cluster.json");
  auto& options = command.runs<AssembleOptions>(run_assemble);
  command.add_option("--name", options.name, "of the cluster (default: the first host's name up to its number)");
  command.add_option("--hosts", options.hosts.names, "names of the hosts: node-[1-32]", host_names, with_default);
  command.add_option("--cores", options.hosts.cores, "per host", with_default);
  command.add_option("--cpus", options.hosts.cpus, "sockets per host", with_default);
  command.add_option("--rank-to-cpu", options.rank_to_cpu, "CPU of each local rank: block, cyclic, or a list: 0,0,1,1",
                     with_default);
  command.add_option("--memory", options.hosts.memory_bytes, "per host (64GiB)", as_memory("--memory"));
  command.add_option("--kernel-fits", options.kernels, "JSON objects of kernel models, by kernel name", reads("FILE"));
  const Option* network_fit =
      command.add_option("--network-fit", options.network, "JSON object of the network model", reads("FILE"));
  command.add_option("--detours", options.detours, "JSON of `hplcast fit detours`: what takes the cores away",
                     reads("FILE"));
  command.add_option("--kind", options.kinds,
                     "so many hosts are those of another cluster.json, a kind of their own: 8:last:newer.json",
                     of_type("COUNT:WHICH:CLUSTER.json"));
  add_capacity_options(command, options.capacities);
  add_published(command, options.published, network_fit);
  command.add_option("--provenance", options.provenance, "JSON object: what was measured, when, where", reads("FILE"));
  command.add_json_output(options.output, "cluster.json");
}

}  // namespace hplcast::cli
