import Telemetry
import Testing

@Suite("Metrics")
struct MetricsTests {
  private func page(_ metrics: Metrics) -> String { String(decoding: metrics.exposition(), as: UTF8.self) }

  @Test("families stand in the order of their names, with help and type once")
  func order() {
    let metrics = Metrics()
    metrics.gauge("b_depth", "How deep.").set(-3)
    metrics.counter("a_total", "How many.", [("provider", "fcm")]).add(2)
    metrics.counter("a_total", "How many.", [("provider", "apns")]).add()
    #expect(
      page(metrics) == """
        # HELP a_total How many.
        # TYPE a_total counter
        a_total{provider="apns"} 1
        a_total{provider="fcm"} 2
        # HELP b_depth How deep.
        # TYPE b_depth gauge
        b_depth -3

        """)
  }

  @Test("the same labels in another order are the same handle")
  func identity() {
    let metrics = Metrics()
    let one = metrics.counter("x", "", [("a", "1"), ("b", "2")])
    let other = metrics.counter("x", "", [("b", "2"), ("a", "1")])
    #expect(one === other)
    #expect(one !== metrics.counter("x", "", [("a", "2"), ("b", "1")]))
  }

  @Test("no label value and no help can forge a line")
  func escaping() {
    let metrics = Metrics()
    metrics.counter("x", "a\\b\nc", [("reason", "say \"no\"\\\nx 1")]).add()
    #expect(
      page(metrics) == #"""
        # HELP x a\\b\nc
        # TYPE x counter
        x{reason="say \"no\"\\\nx 1"} 1

        """#)
  }

  @Test("a histogram counts up to and including its bounds, and agrees with itself")
  func histogram() {
    let metrics = Metrics()
    let histogram = metrics.histogram("t_seconds", "Time.", bounds: [0.001, 0.5, 2], [("k", "v")])
    for seconds in [0.0005, 0.001, 0.25, 2, 7, -1, .nan] { histogram.observe(seconds: seconds) }
    #expect(
      page(metrics) == """
        # HELP t_seconds Time.
        # TYPE t_seconds histogram
        t_seconds_bucket{k="v",le="0.001"} 4
        t_seconds_bucket{k="v",le="0.5"} 5
        t_seconds_bucket{k="v",le="2.0"} 6
        t_seconds_bucket{k="v",le="+Inf"} 7
        t_seconds_sum{k="v"} 9.2515
        t_seconds_count{k="v"} 7

        """)
  }

  @Test("nothing counted on many threads at once is lost")
  func threads() async {
    let metrics = Metrics()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for _ in 0..<10_000 {
            metrics.counter("hits", "", [("task", "\(task % 2)")]).add()
            metrics.histogram("h", "", bounds: [1]).observe(seconds: 0.5)
          }
        }
      }
    }
    #expect(metrics.counter("hits", "", [("task", "0")]).value == 40_000)
    #expect(metrics.histogram("h", "", bounds: [1]).cumulative == [80_000, 80_000])
    #expect(metrics.histogram("h", "", bounds: [1]).sum == 40_000)
  }
}
