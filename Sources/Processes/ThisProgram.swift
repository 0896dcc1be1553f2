import Glibc

/// The file that this process runs.
package enum ThisProgram {
  /// The absolute path, links resolved, from `/proc/self/exe`. A file replaced meanwhile reads as `… (deleted)`.
  package static var path: String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    return String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Where it stands, and what was built with it.
  package static var folder: String {
    let path = path
    return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Its folder, where a shell does not look for it yet.
  package static var missingSearchFolder: String? {
    let known = getenv("PATH").map { String(cString: $0).split(separator: ":").map(String.init) } ?? []
    return known.contains(folder) ? nil : folder
  }
}
