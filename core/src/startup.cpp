#include "hplcast/core/startup.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace hplcast::core {

void settle_in() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);  // gets the lowest number that is free: this one
  }
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace hplcast::core
