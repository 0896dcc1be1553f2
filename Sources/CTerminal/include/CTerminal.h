#pragma once
// ioctl takes variable arguments, which are closed to Swift.

/// Width of the terminal behind a descriptor; 0 if there is none.
int fanfare_columns(int fd);
