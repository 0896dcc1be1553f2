#pragma once
// fork is closed to Swift, and a child must ask for its parent's death before it becomes another program.

/// Starts `path` (looked up in PATH) in a process group of its own with default signals. The child is killed when the
/// calling thread ends: call from a thread that lives as long as the child may. `input`, `output` and `errors` become its
/// descriptors 0–2. Returns the process id, or -1 with errno. `core` >= 0 pins it to that core.
int fanfare_spawn(const char *path, char *const arguments[], int input, int output, int errors, int core);

/// Returns when the child has ended, or after so many milliseconds. It is not reaped.
void fanfare_wait(int process, int milliseconds);
