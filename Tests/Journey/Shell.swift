import Glibc

/// A shell command whose output is read line by line.
final class Shell {
  private let stream: UnsafeMutablePointer<FILE>
  private let process: pid_t
  private var ended = false

  init?(_ script: String) {
    // The shell tells its process id first; what it execs keeps it.
    guard let stream = popen("echo $$; \(script)", "re") else { return nil }
    self.stream = stream
    var buffer = [CChar](repeating: 0, count: 64)
    guard fgets(&buffer, 64, stream) != nil, let id = pid_t(Self.text(buffer)) else { return nil }
    process = id
  }

  deinit { end() }

  private static func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The next line, waited for; nil at the end.
  func line() -> String? {
    var buffer = [CChar](repeating: 0, count: 65_536)
    guard fgets(&buffer, Int32(buffer.count), stream) != nil else { return nil }
    return Self.text(buffer)
  }

  /// All that is left, once the command has ended.
  func rest() -> String {
    var lines: [String] = []
    while let line = line() { lines.append(line) }
    return lines.joined(separator: "\n")
  }

  /// Sends SIGTERM and waits for the end.
  func end() {
    guard !ended else { return }
    ended = true
    kill(process, SIGTERM)
    pclose(stream)
  }

  /// The package's folder.
  static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  /// The executable, built beside this test.
  static let binary: String = {
    var name = [CChar](repeating: 0, count: 4_096)
    let count = readlink("/proc/self/exe", &name, name.count)
    let own = String(decoding: name.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? own
    var folders = bundle.split(separator: "/")
    while !folders.isEmpty {
      folders.removeLast()
      let path = "/" + folders.joined(separator: "/") + "/fanfare"
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return path }
    }
    return "\(root)/.build/debug/fanfare"
  }()

  static func content(of path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&chunk, 1, chunk.count, file)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }
}
