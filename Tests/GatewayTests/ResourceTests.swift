import Testing

@testable import Gateway

@Suite("What the process may use")
struct ResourceTests {
  @Test("limits of control groups hold for their children, in both versions, and seen from inside a container")
  func groups() {
    let files = [
      "/sys/fs/cgroup/system.slice/fanfare.service/memory.max": "max\n",
      "/sys/fs/cgroup/system.slice/memory.max": "1073741824\n",
      "/sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes": "268435456\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    ]
    #expect(MemoryLimit.groups("0::/system.slice/fanfare.service\n") { files[$0] } == [1 << 30])
    #expect(
      MemoryLimit.groups("5:cpu,memory:/docker/1f\n1:cpu:/\n") { files[$0] } == [256 << 20, 9_223_372_036_854_771_712])
    #expect(MemoryLimit.groups("4:memory:/elsewhere") { files[$0] } == [9_223_372_036_854_771_712])
    #expect(MemoryLimit.groups("0::/") { $0 == "/sys/fs/cgroup/memory.max" ? "18446744073709551615" : nil } == [.max])
    #expect(MemoryLimit.groups("0:/\nnonsense\n") { _ in "1" } == [])
    #expect(MemoryLimit.ofProcess > 1 << 20)
  }

  @Test("more descriptors than the process may have are refused with the fix")
  func descriptors() throws {
    #expect(Descriptors.raise(toFit: 10) == nil)
    let shortage = try #require(Descriptors.raise(toFit: .max))
    #expect(shortage.problem.contains("\(shortage.allowed)"))
    #expect(shortage.fix.contains("limits.connections by \(Int.max - shortage.allowed)"))
  }
}
