#include "include/CTerminal.h"

#include <sys/ioctl.h>

int fanfare_columns(int fd) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  /* A terminal that does not tell its size, such as a serial line, has what terminals usually have. */
  return size.ws_col == 0 ? 80 : size.ws_col;
}
