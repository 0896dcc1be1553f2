import Testing

/// The whole system over its real parts: the built program, a Redis of its own, the sandbox over TLS and HTTP/2. One at a
/// time, as each starts three processes.
@Suite("Journeys", .serialized)
struct Journeys {}
