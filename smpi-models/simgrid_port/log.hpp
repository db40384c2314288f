#pragma once

#include <xbt/log.h>

/// One category of SimGrid's log per file, below `hplcast`, off by default: --log=hplcast_messages.thres:verbose
/// (docs/internals/smpi-runtime.md). LOG(messages, "format", ...) as printf(); SimGrid adds host, actor and simulated
/// time. A SimGrid that was built with NDEBUG refuses the level debug.
#define HPLCAST_LOG_CATEGORY(name, description) XBT_LOG_NEW_SUBCATEGORY(hplcast_##name, hplcast, description)
#define LOG(name, ...) XBT_CVERB(hplcast_##name, __VA_ARGS__)
