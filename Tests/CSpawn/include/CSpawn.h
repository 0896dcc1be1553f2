#pragma once
#include <spawn.h>
// Steps of posix_spawn that Swift's view of the C library leaves out.

/// The program has no descriptor from `first` on. 0, or an error number.
int fanfare_close_from(posix_spawn_file_actions_t *actions, int first);
/// The program begins in that directory. 0, or an error number.
int fanfare_change_directory(posix_spawn_file_actions_t *actions, const char *path);
