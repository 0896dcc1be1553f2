import Configuration
import Glibc

/// CPU time of processes, as the kernel counts it.
enum ProcessTimes {
  /// Time on a processor, of all threads that a living process has now, in microseconds; 0 if it is gone.
  static func microseconds(of process: pid_t) -> Int64 {
    guard let threads = opendir("/proc/\(process)/task") else { return 0 }
    defer { closedir(threads) }
    var sum: Int64 = 0
    while let entry = readdir(threads) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.first != ".", let stat = FileContent.read("/proc/\(process)/task/\(name)/schedstat") else { continue }
      sum += String(decoding: stat, as: UTF8.self).split(separator: " ").first.flatMap { Int64($0) } ?? 0
    }
    return sum / 1_000
  }

  /// CPU time of this process, finer than the system tells of others.
  static var ownMicroseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }

  /// Of all children that have ended and were waited for.
  static var ofEndedChildren: Int64 {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    return Int64(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000
      + Int64(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
  }

  /// Open descriptors; 0 if it is gone.
  static func descriptors(of process: pid_t) -> Int64 {
    guard let folder = opendir("/proc/\(process)/fd") else { return 0 }
    defer { closedir(folder) }
    var count: Int64 = 0
    while let entry = readdir(folder) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 } }
    return count
  }

  /// Resident memory in bytes; 0 if it is gone.
  static func memory(of process: pid_t) -> Int64 {
    guard let status = FileContent.read("/proc/\(process)/statm") else { return 0 }
    let fields = String(decoding: status, as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? (Int64(fields[1]) ?? 0) * Int64(sysconf(Int32(_SC_PAGESIZE))) : 0
  }

  /// The most resident memory that it ever had, in bytes; 0 if it is gone.
  static func peakMemory(of process: pid_t) -> Int64 {
    guard let status = FileContent.read("/proc/\(process)/status") else { return 0 }
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int64($0.dropFirst(6).filter(\.isNumber)) }.map { $0 * 1_024 } ?? 0
  }
}

/// What the figures were measured on.
enum Machine {
  static var cores: Int { Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  static var processor: String {
    guard let text = FileContent.read("/proc/cpuinfo") else { return "unknown" }
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("model name") }
    return line.flatMap { $0.split(separator: ":").last }.map { String($0.drop { $0 == " " }) } ?? "unknown"
  }

  static var kernel: String {
    FileContent.read("/proc/sys/kernel/osrelease").map {
      String(String(decoding: $0, as: UTF8.self).filter { !$0.isNewline })
    } ?? "unknown"
  }

  static var isDebugBuild: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }
}
