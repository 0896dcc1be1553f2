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
  func secret(_ name: String, at pointer: String) -> [UInt8]? { read(path(name), at: pointer, .secret) }

  /// The content of a file that only its owner may write; nil after a fault.
  func trusted(_ name: String, at pointer: String) -> [UInt8]? { read(path(name), at: pointer, .trusted) }

  /// The content of a file that anyone may read; nil after a fault.
  func open(_ name: String, at pointer: String) -> [UInt8]? { read(path(name), at: pointer, .open) }

  private func read(_ path: String, at pointer: String, _ access: SecretFile.Access) -> [UInt8]? {
    let file: SecretFile
    do throws(SecretFile.Fault) {
      file = try SecretFile(path, upTo: Self.maximumBytes, access)
    } catch {
      let (problem, fix) = Self.told(error, path)
      faults.add(pointer, problem, fix: fix)
      return nil
    }
    guard !file.content.isEmpty, file.content.count <= Self.maximumBytes else {
      faults.add(
        pointer, file.content.isEmpty ? "\(path) is empty" : "\(path) is larger than 1 MiB",
        fix: "Put the key there as the vendor issued it")
      return nil
    }
    if access != .open, file.isOfAnotherUser { faults.filesOfOthers.append(path) }
    return file.content
  }

  private static func told(_ fault: SecretFile.Fault, _ path: String) -> (problem: String, fix: String) {
    switch fault {
    case .missing: ("no file at \(path)", "Put the file there or correct the path")
    case .notAFile: ("\(path) is not a file", "Give the path of the file itself")
    case .readableByOthers: ("other users than the owner can read \(path)", "Run: chmod 600 \(path)")
    case .writableByOthers: ("other users than the owner can write \(path)", "Run: chmod go-w \(path)")
    case .unreadable: ("\(path) cannot be read by this user", "Run: chmod 600 \(path), as its owner")
    }
  }
}
