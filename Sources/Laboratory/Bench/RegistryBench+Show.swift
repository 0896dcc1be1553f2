import CommandFrame
import Domain
import JSON

extension RegistryBench {
  func show(_ result: Result, json: Bool) {
    if json { Terminal.print(encoded(result)) } else { show(result) }
  }

  private func encoded(_ result: Result) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("devices", registered == nil ? devices : result.exported)
    writer.member("provider", provider.rawValue)
    // Of what was not measured nothing is said.
    let imported: [(String, Double)] = [
      ("import_seconds", result.importSeconds), ("import_cpu_us", result.importOwn),
      ("import_redis_cpu_us", result.importRedis), ("import_per_core_second", result.importRate),
      ("repeat_seconds", result.repeatSeconds), ("redis_bytes", result.bytes),
      ("reindex_seconds", result.reindexSeconds),
      ("create_seconds", result.moves.created.seconds), ("move_seconds", result.moves.moved.seconds),
      ("create_cpu_us", result.moves.created.own), ("move_cpu_us", result.moves.moved.own),
      ("create_redis_cpu_us", result.moves.created.redis), ("move_redis_cpu_us", result.moves.moved.redis),
    ]
    let always: [(String, Double)] = [
      ("tag_change_ms", result.tagChange.middle), ("tag_change_p99_ms", result.tagChange.late),
      ("tag_change_worst_ms", result.tagChange.worst),
      ("export_per_second", Double(result.exported) / result.exportSeconds),
      ("tags_first_page_ms", result.tagPages.first), ("tags_page_ms", result.tagPages.behind),
    ]
    for (name, value) in (registered == nil ? imported : []) + always {
      writer.key(name)
      writer.double(value)
    }
    writer.objects("counts", result.counts) { writer, count in
      writer.member("audience", count.name)
      writer.member("members", count.members)
      writer.key("ms")
      writer.double(count.milliseconds)
    }
    writer.objects("users", result.users) { writer, user in
      writer.member("devices", user.devices)
      for (name, value) in [
        ("change_ms", user.change), ("read_ms", user.read), ("read_cpu_us", user.readOwn),
        ("read_redis_cpu_us", user.readRedis),
      ] {
        writer.key(name)
        writer.double(value)
      }
      writer.member("slowest_us", user.slowest)
    }
    writer.member("slow_commands", result.slowCommands)
    writer.member("slowest_us", result.slowest)
    writer.key("slow")
    writer.beginArray()
    for slow in result.slow {
      writer.beginObject()
      writer.member("step", slow.step)
      writer.member("commands", slow.commands)
      writer.member("longest_us", slow.longest)
      writer.endObject()
    }
    writer.endArray()
    writer.member("memory", result.memory)
    writer.member("debug_build", Machine.isDebugBuild)
    writer.endObject()
    return writer.bytes
  }

  private func show(_ result: Result) {
    var table = Table()
    if registered == nil {
      table.row("imported/s", "\(Int(Double(devices) / result.importSeconds))")
      table.row("imported/s of one core for gateway and Redis", "\(Int(result.importRate))")
      table.row("CPU µs each: gateway", tenths(result.importOwn))
      table.row("CPU µs each: Redis", tenths(result.importRedis))
      table.row("imported again/s", "\(Int(Double(devices) / result.repeatSeconds))")
      table.row("Redis bytes per device", "\(Int(result.bytes.rounded()))")
      for (name, cost) in [("created", result.moves.created), ("moved", result.moves.moved)] {
        table.row("\(min(devices, Self.movedDevices)) under chosen ids \(name), s", hundredths(cost.seconds))
        table.row("… CPU µs each: gateway, Redis", "\(tenths(cost.own)), \(tenths(cost.redis))")
      }
    }
    for count in result.counts {
      table.row("count, ms: \(count.name)", "\(tenths(count.milliseconds)) (\(count.members))")
    }
    table.row("tag change, ms", "\(hundredths(result.tagChange.middle))")
    table.row("tag change, 99 of 100, ms", "\(hundredths(result.tagChange.late))")
    table.row("exported/s", "\(Int(Double(result.exported) / result.exportSeconds))")
    if registered == nil {
      table.row("reindex, devices/s", "\(Int(Double(devices) / max(0.001, result.reindexSeconds)))")
    }
    table.row(
      "page of 100 tags, ms: first, behind it", "\(tenths(result.tagPages.first)), \(tenths(result.tagPages.behind))")
    for user in result.users {
      table.row(
        "user of \(user.devices) devices, ms: one more, reading all", "\(tenths(user.change)), \(tenths(user.read))")
      table.row(
        "… CPU µs of a reading: gateway, Redis", "\(Int(user.readOwn.rounded())), \(Int(user.readRedis.rounded()))")
    }
    for slow in result.slow where slow.commands > 0 {
      table.row("Redis commands over 1 ms: \(slow.step)", "\(slow.commands), longest \(slow.longest) µs")
    }
    if result.slowCommands == 0 { table.row("Redis commands over 1 ms", "none") }
    table.row("gateway memory, MiB", "\(result.memory >> 20)")
    Terminal.print(table.text)
    Terminal.print(
      """

        \(registered == nil ? devices : result.exported) devices of \(provider.rawValue) with ten tags each
        \(Machine.processor), \(Machine.cores) cores, Linux \(Machine.kernel), fanfare \(Program.version)\
      \(Machine.isDebugBuild ? ", DEBUG BUILD: figures mean little" : "")
      """)
  }

  private func tenths(_ value: Double) -> String {
    let scaled = Int((value * 10).rounded())
    return "\(scaled / 10).\(scaled % 10)"
  }
  private func hundredths(_ value: Double) -> String {
    let scaled = Int((value * 100).rounded())
    return "\(scaled / 100).\(scaled / 10 % 10)\(scaled % 10)"
  }
}
