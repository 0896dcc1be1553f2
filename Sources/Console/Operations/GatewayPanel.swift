import Domain

/// What belongs to no app: workers, and Redis.
struct GatewayPanel {
  let texts: Texts

  func write(workers: [JSONValue], _ html: inout HTML) {
    html.section("workers", texts[.workers], live: 5) { html in
      guard !workers.isEmpty else { return html.element("p", [.class("empty")], texts[.noWorkers]) }
      html.table(
        labelledBy: "workers-heading",
        [(texts[.worker], false), (texts[.host], false), (texts[.partitions], true), (texts[.heartbeat], true)]
      ) { html in
        for worker in workers {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")]) { $0.element("code", worker["worker"]?.string ?? "") }
            html.element("td", worker["host"]?.string ?? "")
            html.number(texts.number(worker["partitions"]?.array?.count ?? 0))
            html.number(texts.duration(milliseconds: Int(clamping: worker["heartbeat_age_ms"]?.integer ?? 0)))
          }
        }
      }
    }
  }

  func write(redis: JSONValue, _ html: inout HTML) {
    func number(_ name: String) -> Int { max(0, Int(clamping: redis[name]?.integer ?? 0)) }
    html.section("redis", texts[.redis], live: 5) { html in
      html.element("dl", [.class("facts")]) { html in
        html.fact(texts[.version], redis["version"]?.string)
        let (used, most) = (number("used_memory_bytes"), number("maximum_memory_bytes"))
        html.fact(
          texts[.memory],
          most > 0
            ? texts(.memoryOf, Self.mebibytes(used, texts), Self.mebibytes(most, texts))
            : texts(.memoryWithout, Self.mebibytes(used, texts)))
        html.fact(
          texts[.persistence],
          redis["append_only"] == .bool(true)
            ? texts(.appendOnly, redis["append_fsync"]?.string ?? "?") : texts[.noAppendOnly])
        html.fact(texts[.replicas], texts.number(number("replicas")))
      }
      let losses = (redis["losses"]?.array ?? []).prefix(20).compactMap(\.string)
      guard !losses.isEmpty else { return html.element("p", texts[.noLosses]) }
      html.element("h3", texts[.losses])
      html.element("ul", [.class("todo")]) { html in
        for loss in losses { html.todo(loss, texts) }
      }
    }
  }

  private static func mebibytes(_ bytes: Int, _ texts: Texts) -> String { texts.number(bytes >> 20) + " MiB" }
}
