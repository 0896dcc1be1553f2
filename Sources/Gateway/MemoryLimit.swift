import Configuration
import Glibc

/// How much memory this process may use.
package enum MemoryLimit {
  /// The least of the machine's memory, RLIMIT_AS, and the limits of the control groups that the process is in; bytes.
  package static var ofProcess: Int {
    let pages = sysconf(Int32(_SC_PHYS_PAGES))
    let size = sysconf(Int32(_SC_PAGESIZE))
    var bounds = [pages > 0 && size > 0 ? pages.multipliedReportingOverflow(by: size).partialValue : Int.max]
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 { bounds.append(Int(clamping: limit.rlim_cur)) }
    let read = { (path: String) in FileContent.read(path).map { String(decoding: $0, as: UTF8.self) } }
    bounds += groups(read("/proc/self/cgroup") ?? "", read)
    return bounds.filter { $0 > 0 }.min() ?? .max
  }

  /// The limits of control groups, of version 2 and 1. Those of a parent hold for its children. `text`: of
  /// /proc/self/cgroup, such as `0::/system.slice/fanfare.service` or `4:memory:/docker/1f`. A group that is not where its
  /// name says is the root of what a container sees.
  static func groups(_ text: String, _ read: (String) -> String?) -> [Int] {
    var limits: [Int] = []
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { continue }
      let isSecond = parts[0] == "0" && parts[1].isEmpty
      guard isSecond || parts[1].split(separator: ",").contains("memory") else { continue }
      let (root, file) =
        isSecond ? ("/sys/fs/cgroup", "memory.max") : ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
      var names = parts[2].split(separator: "/")
      while true {
        let folder = ([root] + names.map(String.init)).joined(separator: "/")
        // `max` is no number.
        if let limit = read("\(folder)/\(file)")?.split(whereSeparator: \.isWhitespace).first.flatMap({ UInt64($0) }) {
          limits.append(Int(clamping: limit))
        }
        if names.popLast() == nil { break }
      }
    }
    return limits
  }
}
