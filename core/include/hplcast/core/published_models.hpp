#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "hplcast/core/cluster_model.hpp"

/// Readers of published coefficients (T. Cornebize's models of dahu and files made like them); docs/use/assemble.md has
/// the columns and fields. What they mean is kept: expectation and standard deviation of a half-normal duration.
namespace hplcast::core {

/// The dgemm of every CPU of `hosts`, from a CSV with columns model_id, node, cpu, cpu_id, mu_* and sigma_* (suffixes
/// intercept, mnk, mn, mk, nk; seconds). Lines of other models are ignored. `node` is the number that ends the host's
/// name before its first dot (dahu-7.site: 7). A CPU without a line of its own has the law of the line with cpu_id -1,
/// which is also that of the cluster; without such a line the cluster's law is the mean of the CPUs'.
/// @throws ParseError for a model that is not in the file, a CPU twice, or values that are no numbers; DomainError for
/// a host without a number or a CPU for which there is no line at all.
KernelModel read_dgemm_table(std::istream& in, const std::string& name, const std::string& model_id,
                             const Hosts& hosts);

/// Which column of a table of kernels holds: `full` scatters as measured, `simple` takes its expected time and leaves
/// out the kernels that only move memory.
enum class KernelSet { full, simple };

/// The kernels of a CSV with columns kernel, duration (`size*coef`, `coef`, or `0`), size (the product that
/// stands for the size: `M*N`), mu, sigma, full_model and simple_model (`stochastic`, `mu only`, or `0`: costs
/// nothing). Kernels that cost nothing are left out. @throws ParseError for unknown kernels, forms and products.
std::map<std::string, KernelModel> read_kernel_table(std::istream& in, const std::string& name, KernelSet set);

/// The network `network_id` of a JSON list of SMPI calibrations: os, ois, or, bw_factor, lat_factor (and
/// loopback_bw_factor, loopback_lat_factor where local messages have their own), thresholds and the links they refer
/// to. A segment of SMPI holds for sizes strictly above its min_size. The link between hosts has its bandwidth as
/// capacity; a published loopback does not share.
/// @throws ParseError that names the networks there are.
NetworkModel read_network_table(std::istream& in, const std::string& name, const std::string& network_id);

/// `network` with the costs of send, isend and recv replaced, in both scopes, by the mixtures of a JSON object with
/// `operations` {os, ois, or: [{min_size, slope_s_per_byte, intercept_modes: [{mean_s, sd_s, probability}]}]}. Segments
/// hold from min_size on; from the max_size of the last one on, the costs stay what they were. A field
/// `transfer_latency_at_and_above_BYTES_bytes` has the modes of the latency of longer messages between hosts.
/// @throws ParseError
NetworkModel with_mixtures(const NetworkModel& network, std::istream& in, const std::string& name);

}  // namespace hplcast::core
