#include "accelerators/launch/kernels.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

namespace hplcast::accelerators {

namespace {

/// By the address that launches have. Made when the first constructor of the program asks for it.
std::map<const void*, Kernel>& kernels() {
  static auto* const all = new std::map<const void*, Kernel>();
  return *all;
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         std::free);
  return status == 0 ? text.get() : name;
}

/// The top-level "(" that begins the parameters; npos: there are none. "(anonymous namespace)::" is no such one.
std::size_t parameters_begin(const std::string& text) {
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    const char c = text[i];
    if (c == ')' || c == '>') ++depth;
    if (c == '(' || c == '<') --depth;
    if (c == '(' && depth == 0) return i;
  }
  return std::string::npos;
}

/// "pack" of "void (anonymous namespace)::pack<1024>".
std::string plain_name(std::string name) {
  if (const std::size_t template_arguments = name.find('<'); template_arguments != std::string::npos)
    name.resize(template_arguments);
  const std::size_t last = name.find_last_of(": ");
  return last == std::string::npos ? name : name.substr(last + 1);
}

char letter_of(std::string type) {
  while (!type.empty() && type.front() == ' ') type.erase(0, 1);
  if (type.empty()) return '?';
  if (type.compare(0, 6, "const ") == 0) type.erase(0, 6);
  if (type.size() > 6 && type.compare(type.size() - 6, 6, " const") == 0) type.resize(type.size() - 6);
  if (type.back() == '*') return 'p';
  static constexpr std::pair<const char*, char> letters[] = {
      {"int", 'i'},           {"unsigned int", 'u'},   {"long", 'l'},
      {"unsigned long", 'm'}, {"long long", 'l'},      {"unsigned long long", 'm'},
      {"short", 's'},         {"unsigned short", 't'}, {"char", 'c'},
      {"signed char", 'c'},   {"unsigned char", 'h'},  {"bool", 'b'},
      {"float", 'f'},         {"double", 'd'}};
  for (const auto& [name, letter] : letters)
    if (type == name) return letter;
  return '?';
}

/// Letters of "(int, double const*)".
std::string letters_of(const std::string& parameters) {
  const std::string inner = parameters.substr(1, parameters.size() - 2);
  std::string letters;
  if (inner.empty() || inner == "void") return letters;
  int depth = 0;
  std::string one;
  for (const char c : inner + ",") {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0)
      letters += letter_of(std::exchange(one, {}));
    else
      one += c;
  }
  return letters;
}

/// `type`: mangled; null: it is in the mangled name.
Kernel& told(const void* address, const char* name, const char* type) {
  Kernel& kernel = kernels()[address];
  if (kernel.is_known) return kernel;
  const std::string text = type == nullptr ? demangled(name) : demangled(type);
  const std::size_t parameters = parameters_begin(text);
  kernel.name = plain_name(type == nullptr ? text.substr(0, parameters) : std::string(name));
  kernel.is_known = true;
  if (parameters != std::string::npos) kernel.parameters = letters_of(text.substr(parameters));
  return kernel;
}

template <typename T>
T read(const void* argument) {
  T value;
  std::memcpy(&value, argument, sizeof value);
  return value;
}

template <typename T>
double as_number(const void* argument) {
  return static_cast<double>(read<T>(argument));
}

char letter_at(const Kernel& kernel, int place) {
  if (place >= 0 && static_cast<std::size_t>(place) < kernel.parameters.size())
    return kernel.parameters[static_cast<std::size_t>(place)];
  throw std::invalid_argument("kernel " + kernel.name + " has no argument " + std::to_string(place) + "; it has " +
                              std::to_string(kernel.parameters.size()) + ", counted from 0");
}

}  // namespace

const Kernel* find_kernel(const void* address) {
  const auto found = kernels().find(address);
  return found == kernels().end() ? nullptr : &found->second;
}

std::size_t parameter_bytes(char letter) noexcept {
  for (const auto& [bytes, letters] : {std::pair{1, "chb"}, {2, "st"}, {4, "iuf"}, {8, "lmdp"}})
    if (letter != '\0' && std::strchr(letters, letter) != nullptr) return bytes;
  return 0;
}

double number_of(const Kernel& kernel, int place, void** arguments) {
  static constexpr std::pair<char, double (*)(const void*)> readers[] = {
      {'i', as_number<std::int32_t>},  {'u', as_number<std::uint32_t>}, {'l', as_number<std::int64_t>},
      {'m', as_number<std::uint64_t>}, {'s', as_number<std::int16_t>},  {'t', as_number<std::uint16_t>},
      {'f', as_number<float>},         {'d', as_number<double>}};
  const char own = letter_at(kernel, place);
  for (const auto& [letter, number] : readers)
    if (letter == own) return number(arguments[place]);
  throw std::invalid_argument("argument " + std::to_string(place) + " of kernel " + kernel.name + " is no number");
}

void* pointer_of(const Kernel& kernel, int place, void** arguments) {
  // A class that refers to something, as an atomic reference does, is a pointer in memory.
  const char letter = letter_at(kernel, place);
  if (letter == 'p' || letter == '?') return read<void*>(arguments[place]);
  throw std::invalid_argument("argument " + std::to_string(place) + " of kernel " + kernel.name + " is no pointer");
}

std::string launch_problem(dim3 grid, dim3 block, std::size_t shared_bytes) {
  const auto text = [](dim3 size) {
    return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
  };
  const auto largest = [](dim3 size) { return std::max({size.x, size.y, size.z}); };
  constexpr std::uint64_t most_threads = 1024;
  constexpr std::uint32_t most_blocks = 0x7fffffff;  // a negative number is more
  constexpr std::size_t most_bytes = std::size_t{1} << 16;
  if (block.x == 0 || block.y == 0 || block.z == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0)
    return "a grid of " + text(grid) + " blocks of " + text(block) + " threads has none";
  if (largest(block) > most_threads || std::uint64_t{block.x} * block.y * block.z > most_threads)
    return "a block of " + text(block) + " threads; expected at most " + std::to_string(most_threads);
  if (largest(grid) > most_blocks)
    return "a grid of " + text(grid) + " blocks; expected at most " + std::to_string(most_blocks) + " in a direction";
  if (shared_bytes > most_bytes)
    return std::to_string(shared_bytes) + " bytes of shared memory; expected at most " + std::to_string(most_bytes);
  return "";
}

}  // namespace hplcast::accelerators

using hplcast::accelerators::told;

extern "C" {

void hplcastNameKernel(const void* kernel, const char* name, const char* type) {
  told(kernel, name, type);
}

int hplcastHostKernel(const void* kernel, const char* name, const char* type, void (*function)(),
                      void (*invoke)(void (*)(), void**)) {
  hplcast::accelerators::Kernel& one = told(kernel, name, type);
  one.function = function;
  one.invoke = invoke;
  return 0;
}

// Below: the calls that clang makes of <<<>>>, and of the kernels of a file before main(). There is no code for a
// device: the object that clang names is empty.

extern const char __hip_fatbin[];
const char __hip_fatbin[8] = {};

void** __hipRegisterFatBinary(const void*) {
  static void* nothing = nullptr;
  return &nothing;
}

void __hipUnregisterFatBinary(void**) {}

void __hipRegisterFunction(void**, const void* kernel, char*, const char* name, unsigned, void*, void*, void*, void*,
                           int*) {
  told(kernel, name, nullptr);
}

void __hipRegisterVar(void**, void*, char*, char*, int, std::size_t, int, int) {}

namespace {
/// The launch that is being made.
struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  hipStream_t stream = nullptr;
};
thread_local Configuration configuration;
}  // namespace

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes, hipStream_t stream) {
  configuration = {grid, block, shared_bytes, stream};
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, hipStream_t* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared_bytes = configuration.shared_bytes;
  *stream = configuration.stream;
  return hipSuccess;
}

}  // extern "C"
