#pragma once

#include <map>
#include <optional>
#include <string>

#include "hplcast/core/kernel_model.hpp"

namespace hplcast::core {

/// The host and a kernel of an accelerator that talk while it runs: per column the kernel sets a flag, and the host
/// answers by clearing it (docs/models/accelerators.md). Places are those of arguments, from 0.
struct HandshakeModel {
  int flag = 0;              ///< of the pointer to the flag, an int in pinned memory
  int columns = 0;           ///< of their number
  std::optional<int> pivot;  ///< of a pointer to doubles in pinned memory: the largest element, and its row from 0
  double column_s = 0, column_s_per_row = 0;  ///< from the answer to the next flag
  double update_s_per_element = 0;            ///< of the other columns, meanwhile
};

/// A kernel of an accelerator: a routine of BLAS, or one of the program, whose sizes are among its arguments.
struct AcceleratorKernel {
  std::optional<int> m, n, k;        ///< places, from 0; nothing: 1, or what BLAS says
  std::optional<KernelModel> model;  ///< its duration on the accelerator
  std::optional<HandshakeModel> handshake;
  std::optional<double> power_w = {};  ///< of the accelerator meanwhile; nothing: AcceleratorPower::busy_w
};

/// A copy takes latency_s + bytes / bytes_per_s.
struct CopyModel {
  double latency_s = 0;
  double bytes_per_s = 0;
  std::optional<double> pageable_bytes_per_s;  ///< memory of the host that is not pinned; nothing: as fast
};

/// A message from memory of an accelerator, alone: latency_s + bytes / bytes_per_s, in place of what the network has.
struct DeviceMessage {
  double latency_s = 0, bytes_per_s = 0;
  std::optional<int> accelerators;  ///< `near` only: so many of a host, from 0, then as many more, are near each other
};

/// Messages from memory of accelerators; nothing: they take what those from memory of hosts do.
struct DeviceMessages {
  std::optional<DeviceMessage> near, local, remote;  ///< on near accelerators, inside of a host, between hosts
};

/// Draw of each accelerator.
struct AcceleratorPower {
  double idle_w = 0;     ///< no rank uses it
  double waiting_w = 0;  ///< of a rank, while no kernel runs
  double busy_w = 0;     ///< while one does that has no power of its own
};

/// The accelerators of a host, all alike: docs/models/accelerators.md.
struct AcceleratorModel {
  std::string name;
  int per_host = 1;         ///< 0: of a kind of hosts that has none
  double memory_bytes = 0;  ///< of each
  int compute_units = 1;
  double launch_s = 0;  ///< of the host, per kernel, copy or fill
  double start_s = 0;   ///< from there to the begin on an idle stream
  double gap_s = 0;     ///< between two of a stream
  double record_s = 0;  ///< of the host, per event recorded or waited for by a stream
  double sync_s = 0;    ///< of the host, after it has waited, and per query
  double flag_s = 0;    ///< until the other side sees a flag
  CopyModel to_device, from_device, within_device;
  std::optional<DeviceMessages> messages;
  std::optional<AcceleratorPower> power;
  std::map<std::string, AcceleratorKernel> kernels;  ///< "dgemm/NT", "dgemm", "pack_rows"
};

}  // namespace hplcast::core
