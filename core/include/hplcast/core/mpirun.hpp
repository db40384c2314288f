#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/core/process.hpp"

namespace hplcast::core {

/// How an MPI program is started on this machine or on the hosts of a file: one rank per core, one BLAS thread per
/// rank, because the model of a kernel is that of one core.
struct MpiLaunch {
  int ranks = 1;
  std::filesystem::path hostfile;          ///< empty: this machine
  bool oversubscribe = false;              ///< more ranks than cores: not bound, and slower than real
  std::string mpirun = "mpirun";           ///< Open MPI's, or Slurm's srun (then the hosts are those of the job)
  std::vector<std::string> options = {};   ///< more options for it, before the program
  std::vector<std::string> exported = {};  ///< environment variables that the ranks get, besides OPENBLAS_NUM_THREADS
  bool bind = true;                        ///< ranks to cores; false: not, unless `options` say so
};

/// The mpirun (or srun) command that runs `program` so.
Command mpirun_command(const MpiLaunch& launch, const std::filesystem::path& program);

/// Marks an argument of a simulated program that smpirun and SimGrid are not to understand: both take what they know
/// (`--help`, `--cfg=...`, `--log=...`, `--`) from it, and smpirun has a shell take words apart.
inline constexpr const char* smpirun_word_mark = "hplcast-word=";

/// An argument as smpirun is given it: marked, with %XX in place of all that could mean something, if it needs that.
inline std::string smpirun_word(const std::string& argument) {
  const char* const plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,/:=+@-";  // in all places but the first
  const bool is_plain = !argument.empty() && argument.front() != '-' &&
                        argument.find_first_not_of(plain) == std::string::npos &&
                        argument.rfind(smpirun_word_mark, 0) != 0;
  if (is_plain) return argument;
  const char* const digits = "0123456789ABCDEF";
  std::string word = smpirun_word_mark;
  for (const char c : argument) {
    const auto byte = static_cast<unsigned char>(c);
    if (c != '\0' && std::strchr(plain, c) != nullptr) {
      word += c;
    } else {
      word += {'%', digits[byte / 16], digits[byte % 16]};
    }
  }
  return word;
}

/// The argument again, in its place. Words without the mark stay.
inline void restore_smpirun_word(char* word) {
  const std::size_t mark = std::strlen(smpirun_word_mark);
  if (std::strncmp(word, smpirun_word_mark, mark) != 0) return;
  const auto value = [](char digit) { return digit >= 'A' ? digit - 'A' + 10 : digit - '0'; };
  char* to = word;
  for (const char* from = word + mark; *from != '\0'; ++from) {
    const bool is_code = from[0] == '%' && from[1] != '\0' && from[2] != '\0';
    *to++ = is_code ? static_cast<char>(value(from[1]) * 16 + value(from[2])) : *from;
    if (is_code) from += 2;
  }
  *to = '\0';
}

}  // namespace hplcast::core
