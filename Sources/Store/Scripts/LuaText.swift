import RedisClient

/// Puts the text of a script together. Its file begins with Redis' own line. A line `-- use a, b` stands for the files
/// of these names in `Lua/Parts`, each once in a script; a name of `constants` for its value. Lines of comment are left
/// out.
enum LuaText {
  private static let use = "-- use "
  private static let comment = "--"

  static func script(_ name: String, _ file: [UInt8]) -> RedisScript {
    var used: Set<String> = []
    var text = assembled(file, &used)
    for (name, value) in constants { text = text.replacing(name, with: value) }
    return RedisScript(name, text)
  }

  private static func assembled(_ file: [UInt8], _ used: inout Set<String>) -> String {
    var text = ""
    for line in String(decoding: file, as: UTF8.self).split(separator: "\n") {
      if line.hasPrefix(use) {
        for name in line.dropFirst(use.count).split(separator: ",").map({ String($0.drop { $0 == " " }) }) {
          guard let part = parts[name] else { preconditionFailure("there is no part \(name) of a script") }
          if used.insert(name).inserted { text += assembled(part, &used) }
        }
      } else if !line.drop(while: { $0 == " " }).hasPrefix(comment) {
        text += line + "\n"
      }
    }
    return text
  }

  private static let parts: [String: [UInt8]] = [
    "addShard": PackageResources.addShard_part_lua,
    "archive": PackageResources.archive_part_lua,
    "caps": PackageResources.caps_part_lua,
    "clock": PackageResources.clock_part_lua,
    "counterList": PackageResources.counterList_part_lua,
    "fence": PackageResources.fence_part_lua,
    "flush": PackageResources.flush_part_lua,
    "heldDraft": PackageResources.heldDraft_part_lua,
    "index": PackageResources.index_part_lua,
    "keepInPlace": PackageResources.keepInPlace_part_lua,
    "keepsContent": PackageResources.keepsContent_part_lua,
    "keyed": PackageResources.keyed_part_lua,
    "listed": PackageResources.listed_part_lua,
    "mark": PackageResources.mark_part_lua,
    "owner": PackageResources.owner_part_lua,
    "records": PackageResources.records_part_lua,
    "sets": PackageResources.sets_part_lua,
    "tally": PackageResources.tally_part_lua,
    "user": PackageResources.user_part_lua,
    "writeDevices": PackageResources.writeDevices_part_lua,
  ]

  /// What Swift and Lua both know. No name is a part of another one, or of any other word in Lua.
  static let constants = [
    ("RECORDS_PER_BUCKET", "\(Keys.recordsPerBucket)"),
    ("BITMAP_STEP", "\(SetBlock.bitmapStep)"),
    ("ARRIVING", "\(DeviceRecord.Mark.arriving)"),
    ("SHORTEST_START", "\(AudienceStarts.shortestStart)"),
    ("RAMP_FLOOR", "\(RateBucket.rampFloor)"),
    ("RATE_CELL_US", "\(RateBucket.cell * 1_000)"),
    ("RATE_CELLS", "\(RateBucket.cells)"),
    ("MOVED_AT_MOST", "\(movedAtMost)"),
  ]

  /// Direct parts of more deliveries end where they stand: moving them would take longer than a script may.
  private static let movedAtMost = 1_000
}
