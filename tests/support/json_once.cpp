#include "tests/support/json_once.hpp"

HPLCAST_JSON_ONCE()
