import Glibc

/// Files beside the configuration. A relative path starts at the configuration's folder.
struct Files {
  let folder: String
  let faults: FaultList
  static let maximumBytes = 1 << 20

  /// A variable of the process' environment; nil if it is not set, or empty.
  static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  func path(_ path: String) -> String { path.hasPrefix("/") ? path : "\(folder)/\(path)" }

  /// The content of a file that only its owner may read; nil after a fault.
  func secret(_ name: String, at pointer: String) -> [UInt8]? { read(path(name), at: pointer, secret: true) }

  /// The content of a file that anyone may read; nil after a fault.
  func open(_ name: String, at pointer: String) -> [UInt8]? { read(path(name), at: pointer, secret: false) }

  private func read(_ path: String, at pointer: String, secret: Bool) -> [UInt8]? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      faults.add(pointer, "no file at \(path)", fix: "Put the file there or correct the path")
      return nil
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      faults.add(pointer, "\(path) is not a file", fix: "Give the path of the file itself")
      return nil
    }
    if secret, status.st_mode & 0o077 != 0 {
      faults.add(pointer, "other users than the owner can read \(path)", fix: "Run: chmod 600 \(path)")
      return nil
    }
    guard let content = FileContent.read(path, upTo: Self.maximumBytes) else {
      faults.add(pointer, "\(path) cannot be read by this user", fix: "Run: chmod 600 \(path), as its owner")
      return nil
    }
    guard !content.isEmpty, content.count <= Self.maximumBytes else {
      faults.add(
        pointer, content.isEmpty ? "\(path) is empty" : "\(path) is larger than 1 MiB",
        fix: "Put the key there as the vendor issued it")
      return nil
    }
    return content
  }
}
