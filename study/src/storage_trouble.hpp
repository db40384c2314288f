#pragma once

#include <filesystem>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast::study {

/// Why a simulation has failed, if the disk is to blame: a program that met a limit of file sizes, said in its output
/// that there is no space, or left a folder where nothing can be written now. @throws core::StorageError in these
/// cases.
void throw_if_storage(const core::Command& command, const core::ExternalError& failure);

}  // namespace hplcast::study
