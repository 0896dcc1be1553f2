import Support

/// What journeys share in which two workers hold half of the partitions each.
enum TwoWorkers {
  /// Seconds.
  static let lease = 2.0
  static let settings = #"workers: { lease: "2s", drain: "2s" },"#
  static let partitions = 16

  /// A message to these tokens of APNs.
  static func alert(_ tokens: [String]) -> String {
    #"{"to":{"tokens":[\#(Tokens.targets("apns", tokens))]},"kind":"alert","notification":{"body":"Hi"}}"#
  }

  static func awaitHalves(_ workers: Gateway...) async throws {
    for worker in workers {
      try await worker.until("half of the partitions") {
        try await $0.metric("fanfare_partitions_owned") == partitions / 2
      }
    }
  }
}
