#include "hplcast/study/transform.hpp"

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"

namespace hplcast::cli {

namespace {

struct TransformOptions {
  std::string cluster;
  std::string name;
  std::map<const Option*, std::string> changes;  ///< option to name of the transformation
  std::string output;
};

/// The transformations in the order of the command line: removing and then scaling differs from the other way round.
std::vector<study::Transformation> in_order(const Command& command, const TransformOptions& options) {
  std::map<const Option*, std::size_t> used;
  std::vector<study::Transformation> list;
  for (const Option* option : command.parse_order()) {
    const auto change = options.changes.find(option);
    if (change != options.changes.end()) list.push_back({change->second, option->results().at(used[option]++)});
  }
  return list;
}

/// The file that a change reads; empty: none.
std::string file_of(const study::Transformation& change) {
  const std::string& text = change.argument;
  if (text == "none") return "";
  if (change.name == "set-detours") return text;
  if (change.name == "generate") return text.substr(0, text.find(';'));
  return core::ends_with(text, ".json") ? text.substr(text.rfind(':') + 1) : "";  // 1:slowest:newer.json, 1:slowest
}

void run_transform(const Command& command, const TransformOptions& options) {
  const auto list = in_order(command, options);
  if (list.empty()) throw core::UsageError("no transformation given");
  for (const study::Transformation& change : list) require_other_file(options.output, {file_of(change)});
  core::ClusterModel cluster = study::transformed(read_cluster_file(options.cluster), list);
  if (!options.name.empty()) cluster.name = options.name;
  write_cluster_file(options.output, cluster);
}

}  // namespace

void setup_transform(Command& app) {
  auto options = std::make_shared<TransformOptions>();
  Command& command =
      add_command(app, "transform", "Change a cluster for what-if studies: faster, larger, different",
                  "hplcast transform examples/dahu-like.json --remove-nodes 2:slowest --scale-bandwidth 2 "
                  "-o what-if.json");
  command.add_option("cluster", options->cluster, "cluster.json", required, reads("CLUSTER.json"));
  command.add_option("--name", options->name, "of the new cluster (default: that of the old one)");
  command.add_json_output(options->output, "cluster.json");
  for (const study::TransformationInfo& info : study::transformations()) {
    Option* option = command.add_option_function<std::string>(
        "--" + info.name, [](const std::string&) {}, info.description, of_type(info.argument), many, value_count(1),
        in_group("Transformations (applied in the order given)"));
    options->changes.emplace(option, info.name);
  }
  command.callback([options, &command] { run_transform(command, *options); });
}

}  // namespace hplcast::cli
