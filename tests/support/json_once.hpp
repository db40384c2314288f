#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// The code of JSON is half of the compile time of a small test that parses or prints it: compiled in json_once.cpp,
/// for all tests, whose precompiled headers have this (cmake/HplcastTargets.cmake).
#define HPLCAST_JSON_ONCE(EXTERN)                                                                         \
  EXTERN template class nlohmann::detail::lexer<                                                          \
      nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;             \
  EXTERN template class nlohmann::detail::parser<                                                         \
      nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;             \
  EXTERN template class nlohmann::detail::lexer<nlohmann::json, nlohmann::detail::input_stream_adapter>;  \
  EXTERN template class nlohmann::detail::parser<nlohmann::json, nlohmann::detail::input_stream_adapter>; \
  EXTERN template class nlohmann::detail::serializer<nlohmann::json>;

HPLCAST_JSON_ONCE(extern)
