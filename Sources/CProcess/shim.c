#define _GNU_SOURCE
#include "include/CProcess.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

int fanfare_spawn(const char *path, char *const arguments[], int input, int output, int errors, int core) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child != 0) return child;
  // Only calls that are safe after fork in a process with threads.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  setpgid(0, 0);
  if (core >= 0) pin(core);
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, 0);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) _exit(127);
  execvp(path, arguments);
  _exit(127);
}

void fanfare_wait(int process, int milliseconds) {
  int handle = (int)syscall(SYS_pidfd_open, process, 0);
  if (handle < 0) return;
  struct pollfd ended = {.fd = handle, .events = POLLIN};
  while (poll(&ended, 1, milliseconds) < 0 && errno == EINTR) {
  }
  close(handle);
}
