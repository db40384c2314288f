#pragma once

#include <array>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hplcast/core/accelerator_model.hpp"
#include "hplcast/core/detours.hpp"
#include "hplcast/core/hpl_parameters.hpp"
#include "hplcast/core/kernel_model.hpp"
#include "hplcast/core/network_model.hpp"
#include "hplcast/core/power_model.hpp"

namespace hplcast::core {

/// "dahu-[1-32].site" or "a,b,n[01-03,7]" to one name per host, in order. Zero padding is kept.
/// @throws DomainError for unbalanced or empty brackets and ranges that go down.
std::vector<std::string> expand_hosts(const std::string& radical);

/// Which CPU (socket) each local rank of a host runs on.
struct RankToCpu {
  enum class Kind { block, cyclic, list } kind = Kind::block;
  std::vector<int> list;  ///< for Kind::list: the CPU of local rank i, cores entries
};

/// Hosts that differ from the others of their cluster.
struct HostKind {
  std::string name;
  std::string hosts;        ///< radical: names among those of the cluster
  int cores = 1, cpus = 1;  ///< as those of Hosts::Values
  RankToCpu rank_to_cpu;
  double memory_bytes = 0;  ///< 0: not known
  double link_share = 1;    ///< of their links' bandwidth, in that of the network between hosts; in (0, 1]
  std::optional<AcceleratorModel> accelerators = {};  ///< nothing: as ClusterModel::accelerators
};

/// The hosts of a cluster. Ranks fill them in their order, each up to its cores.
class Hosts {
 public:
  /// Cores to memory: of a host that is of none of `kinds`.
  struct Values {
    std::string names;  ///< radical, see expand_hosts
    int cores = 1;      ///< per host: places for ranks
    int cpus = 1;       ///< sockets per host
    RankToCpu rank_to_cpu;
    double memory_bytes = 0;           ///< per host; 0: not known
    int threads_per_rank = 1;          ///< of its BLAS, each on a core of its own: a place has so many cores
    std::vector<HostKind> kinds = {};  ///< no host is of two
  };
  struct Place {
    int host, local;  ///< from 0; the number of a rank on its host
  };
  static constexpr int no_kind = -1;
  Hosts() = default;
  /// @throws DomainError for counts below 1, cores not a multiple of cpus (block), a list of the wrong length or range,
  /// kinds that have no hosts or those of another, or of the same name.
  static Hosts make(Values values);

  const Values& values() const noexcept { return values_; }
  const std::vector<std::string>& names() const noexcept { return names_; }
  int count() const noexcept { return static_cast<int>(names_.size()); }
  bool has_kinds() const noexcept { return !kind_of_.empty(); }
  /// Its index in values().kinds, or no_kind.
  int kind_of(int host) const noexcept { return has_kinds() ? kind_of_[static_cast<std::size_t>(host)] : no_kind; }
  /// "others": no_kind.
  std::string kind_name(int kind) const {
    return kind == no_kind ? "others" : values_.kinds.at(static_cast<std::size_t>(kind)).name;
  }
  int cores_of(int host) const noexcept { return of(host, &HostKind::cores, values_.cores); }
  int cpus_of(int host) const noexcept { return of(host, &HostKind::cpus, values_.cpus); }
  double memory_bytes_of(int host) const noexcept { return of(host, &HostKind::memory_bytes, values_.memory_bytes); }
  double link_share_of(int host) const noexcept { return of(host, &HostKind::link_share, 1.0); }
  int most_cores() const noexcept;
  int most_cpus() const noexcept;
  int total_cores() const noexcept { return first_core_of(count()); }
  /// Cores of all hosts before it, which may be one past the last.
  int first_core_of(int host) const noexcept {
    return has_kinds() ? first_core_[static_cast<std::size_t>(host)] : host * values_.cores;
  }
  /// CPU of a local rank, 0 <= local_rank. With several ranks per core the ranks wrap around.
  int cpu_of(int host, int local_rank) const noexcept;
  /// `rank`: below total_cores().
  Place place_of(int rank) const noexcept;
  /// How many so many ranks use.
  int hosts_of(int ranks) const noexcept { return ranks < 1 ? 0 : place_of(ranks - 1).host + 1; }
  /// How many of the first `ranks` ranks are there.
  int ranks_on(int host, int ranks) const noexcept;
  /// "32 hosts of 16 cores", or of kinds each.
  std::string text() const;

 private:
  const HostKind* own(int host) const noexcept {
    const int kind = kind_of(host);
    return kind == no_kind ? nullptr : &values_.kinds[static_cast<std::size_t>(kind)];
  }
  template <typename T>
  T of(int host, T HostKind::*field, T otherwise) const noexcept {
    const HostKind* kind = own(host);
    return kind == nullptr ? otherwise : kind->*field;
  }
  Values values_{"localhost", 1, 1, {}, 0, 1};
  std::vector<std::string> names_{"localhost"};
  std::vector<int> kind_of_, first_core_;  // of each host; empty without kinds
};

/// How the code between two marks of a program is simulated (docs/models/any-program.md).
enum class RegionMode { model, factor, bench, skip };
HPLCAST_ENUM_NAMES(RegionMode, "mode of a region", "model", "factor", "bench", "skip");

/// A region of a program, marked by HPLCAST_REGION_BEGIN and HPLCAST_REGION_END.
struct RegionModel {
  RegionMode mode = RegionMode::skip;
  double factor = 1;  ///< RegionMode::factor: simulated CPU time times this is its duration; above 0
  KernelModel model;  ///< RegionMode::model: its duration by the sizes m, n, k of the mark
  long calls = 0;     ///< observed
  double time_s = 0;  ///< CPU time observed in it, without routines and MPI
  bool is_executed() const { return mode == RegionMode::factor || mode == RegionMode::bench; }
};

/// Where the CPU time of the observed runs went, in s, summed over ranks.
struct ObservedTime {
  double total_s = 0;
  double routines_s = 0;
  double mpi_s = 0;
  double rest_s = 0;  ///< neither routines nor MPI nor regions
  bool empty() const { return total_s <= 0; }
};

/// Model of a program by `hplcast fit program`: part of cluster.json.
struct ProgramModel {
  std::string command;                          ///< that was observed
  std::map<std::string, KernelModel> routines;  ///< by free names: "dgemm", "dgemv/T", "dswap/strided"
  std::map<std::string, RegionModel> regions;   ///< by name
  ObservedTime observed;
  /// `--rest model`: code that is neither routine nor region, per call of a routine, and per element of the largest
  /// face of its operands (largest_face()); at least 0.
  double rest_s_per_call = 0;
  double rest_s_per_element = 0;
};

/// Whether routines of this name have vectors whose elements are k apart: "dswap/strided"; "dswap/aliased", where that
/// is a multiple of 4096 bytes; "dswap/half-aliased", where it is an odd multiple of 2048.
inline bool is_strided(std::string_view routine) noexcept {
  return ends_with(routine, "/strided") || ends_with(routine, "/half-aliased") || ends_with(routine, "/aliased");
}

/// Local functions of MPI are among the routines: MPI_Pack, MPI_Type_vector.
inline bool is_mpi_function(std::string_view routine) noexcept {
  return routine.substr(0, 4) == "MPI_";
}

/// A stretch is the code of a program between two of its calls of MPI. Its model is among the regions, by the two
/// calls: "MPI_Send in exchange_1_+418 > MPI_Recv in blts_+77", sites in the simulated program; by the two functions
/// ("MPI_Send in exchange_1_ > MPI_Recv in blts_"); or of all stretches ("any > any"). m of its sizes is
/// stretch_size().
enum class StretchLevel { site, function, any };
std::string stretch_name(const std::string& before, const std::string& after, StretchLevel level);
inline bool is_stretch(std::string_view region) noexcept {
  return region.find(" > ") != std::string_view::npos;
}
/// The call of `function` at `site` ("exchange_1_+418"; empty or without a name before +: it is not known).
std::string call_site_name(const std::string& function, const std::string& site);
/// Instructions of the program that it executes, and 1: a shape has no size of 0.
constexpr double stretch_size(double instructions) {
  return instructions + 1;
}

/// The product of the two larger sizes: code around a call copies or packs about as many elements.
double largest_face(const KernelShape& shape) noexcept;

/// Durations whose errors move a prediction together.
enum class ErrorGroup {
  dgemm,          ///< the expected durations of dgemm; their scatter keeps its relative size
  dgemm_scatter,  ///< the scatter of dgemm alone: waiting ranks feel it
  other_kernels,
  messages
};
HPLCAST_ENUM_NAMES(ErrorGroup, "group of durations", "dgemm", "dgemm_scatter", "other_kernels", "messages");
inline constexpr std::array error_groups = {ErrorGroup::dgemm, ErrorGroup::dgemm_scatter, ErrorGroup::other_kernels,
                                            ErrorGroup::messages};

/// A standard deviation of logarithms (0.01 is 1 percent), and how well it is known.
struct EstimatedSd {
  double sd = 0;
  double nu = 0;  ///< degrees of freedom of the estimate; 0: taken as known
};

/// How well a campaign knows the durations that it measured: `uncertainty` of cluster.json.
struct Uncertainty {
  std::array<std::optional<EstimatedSd>, error_groups.size()> groups;  ///< by ErrorGroup; those that can be told
  long days = 1;                                                       ///< on which dgemm was measured
  std::optional<EstimatedSd> between_days;  ///< of dgemm, from one day to another; several days only
  std::optional<EstimatedSd> drift;         ///< of dgemm, while it was measured; nothing: not seen
  std::optional<EstimatedSd> pieces;        ///< of dgemm, from one piece of time of a host to the next
  double piece_s = 0;                       ///< length of these
  std::optional<EstimatedSd>& of(ErrorGroup group) { return groups[static_cast<std::size_t>(group)]; }
};

/// An estimate and its standard error.
struct EstimatedRatio {
  double ratio = 1, standard_error = 0;
  /// The share of the logarithm that counts, in [0, 1]: the rest is the scatter of what it was estimated from.
  double certainty() const noexcept;
};

/// Kernels of HPL on a matrix whose columns are a multiple of `bytes` apart (columns_apart_bytes()).
struct AliasedColumns {
  long bytes = aliased_bytes;
  std::map<std::string, EstimatedRatio> kernels;  ///< by kernel: what they take over what they take on others
};

/// Everything that hplcast knows about a machine: the content of cluster.json.
struct ClusterModel {
  static constexpr int schema_version = 12;
  static constexpr int oldest_schema_version = 1;  ///< that can be read: 2 has four numbers as power, 1 no capacities
  int needed_schema_version() const;               ///< what is written: the oldest that can say it
  std::string name;
  Hosts hosts;
  std::map<std::string, KernelModel>
      kernels;                          ///< by kernel name (kernel_id.hpp); a kernel without a model costs nothing
  std::vector<AliasedColumns> aliased;  ///< ascending by bytes; that of more holds for all multiples of it
  /// By kernel of HPL: a call without work (a size is 0) in s, where the BLAS does not return at once.
  std::map<std::string, double> empty_call_s;
  NetworkModel network;
  std::optional<PowerModel> power;               ///< see check_power()
  std::vector<DetourSource> detours;             ///< what takes the CPUs away now and then; see check_detours()
  std::optional<ProgramModel> program;           ///< routines and regions of an observed program (`fit program`)
  std::optional<Uncertainty> uncertainty;        ///< of measured models (`fit cluster`)
  std::optional<AcceleratorModel> accelerators;  ///< of hosts whose kind has none of its own
  const AcceleratorModel* accelerators_of(int host) const;  ///< null: it has none
  bool has_accelerators() const;                            ///< of any host
  std::string provenance = "{}";  ///< a JSON object: what was measured, when, where, with which software
};

/// How much longer the kernels of that name take on a matrix of this leading dimension (in doubles) than their models
/// say; where that cannot be told of its distance, what it is at the next lower one.
double aliased_ratio(const ClusterModel& cluster, const std::string& kernel, long leading_dimension);
/// The same as measured; {1, 0} where it is not.
EstimatedRatio aliased_entry(const ClusterModel& cluster, const std::string& kernel, long leading_dimension);

/// @throws DomainError for a topology of another number of hosts, kinds of hosts with slower links, or rails, where the
/// topology does not say whose links are whose, and rails of other CPUs than there are.
void check_links(const ClusterModel& cluster);

/// The content of cluster.json, see docs/formats/cluster-json.md. Deterministic: equal models give equal text.
void write_cluster(std::ostream& out, const ClusterModel& cluster);

/// @throws ParseError with the JSON pointer of the field: syntax, unknown schema version, missing or wrong fields.
ClusterModel read_cluster(std::istream& in, const std::string& name);

/// SHA-256 (hex) of the text that write_cluster() gives: names a model in predictions and in model.h.
std::string cluster_sha256(const ClusterModel& cluster);

/// One kernel model as it stands in cluster.json under `kernels`, as indented JSON text.
std::string kernel_model_json(const KernelModel& model);

/// The network as it stands in cluster.json under `network`.
std::string network_model_json(const NetworkModel& model);

/// Reads what kernel_model_json() wrote, in an object {"dgemm": ..., "dtrsm": ...}: the output of `fit`. @throws
/// ParseError
std::map<std::string, KernelModel> read_kernel_models(std::istream& in, const std::string& name);

/// Reads what network_model_json() wrote. @throws ParseError
NetworkModel read_network_model(std::istream& in, const std::string& name);

/// Reads a JSON object as it stands, for ClusterModel::provenance. @throws ParseError if it is anything else.
std::string read_provenance(std::istream& in, const std::string& name);

}  // namespace hplcast::core
