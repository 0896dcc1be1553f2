import Testing

@testable import Store

@Suite("Where partitions lie")
struct Placement {
  @Test("partitions fall evenly over a cluster's 16,384 slots, and the tags never change", arguments: [16, 64])
  func evenness(partitions: Int) {
    let tags = ClusterHashTags.tags(partitions: partitions)
    #expect(Set(tags).count == partitions && tags == ClusterHashTags.tags(partitions: partitions))
    let width = ClusterHashTags.count / partitions
    #expect(tags.map { ClusterHashTags.slot(ofTag: $0) / width } == Array(0..<partitions))
    // Over clusters of several sizes no node holds more than its share and one.
    for nodes in [2, 3, 4, 6, 8] {
      var held = [Int](repeating: 0, count: nodes)
      for tag in tags { held[ClusterHashTags.slot(ofTag: tag) * nodes / ClusterHashTags.count] += 1 }
      #expect(held.allSatisfy { abs($0 - partitions / nodes) <= 1 }, "\(nodes) nodes: \(held)")
    }
  }

  @Test("slots are computed as Redis computes them")
  func slots() {
    #expect(ClusterHashTags.crc16(Array("123456789".utf8)) == 0x31c3)
    #expect(ClusterHashTags.slot(ofTag: "foo") == 12_182)
  }

  @Test("names spread evenly over partitions")
  func names() {
    let keys = Keys(prefix: "ff", partitions: 16)
    var held = [Int](repeating: 0, count: 16)
    for number in 0..<16_000 { held[keys.partition(("shop", "device-\(number)"))] += 1 }
    #expect(held.allSatisfy { (850...1_150).contains($0) }, "\(held)")
  }
}
