#define _GNU_SOURCE
#include "include/CLaboratory.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

int fanfare_pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

int fanfare_limit_file_size(int process, unsigned long long bytes) {
  struct rlimit limit = {bytes, RLIM_INFINITY};
  return prlimit(process, RLIMIT_FSIZE, &limit, 0);
}

int fanfare_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
