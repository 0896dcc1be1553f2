import Domain

extension MessageReports {
  /// Of a direct send: its records are counted, as nothing is counted by variant while it is sent. Where the bound of
  /// bytes has dropped some of them, the counters stay, without variants.
  func countVariants(of report: inout MessageReport, _ parts: StoredMessageHashes) async throws(StoreError) {
    var found = [(id: report.id, parts: parts)]
    try await MessageArchive(session).readWork(&found) { _, _ in true }
    var counts: [MessageReport.Key: Int] = [:]
    for partition in parts.partitions where (0..<settings.partitions).contains(partition) {
      guard let work = found[0].parts.work[partition], let list = TargetList(work: work) else { return }
      let records = try await DeliveryReports(session).records(
        report.id, found[0].parts, partition, list.entries.indices)
      for (entry, record) in zip(list.entries, records) {
        guard let record, case .final(let outcome, let reason, _) = record.state else { continue }
        let provider = record.provider ?? entry.provider ?? ProviderName(rawValue: "")
        let key = MessageReport.Key(
          provider: provider, outcome: outcome, reason: reason, platform: entry.platform,
          variant: entry.variant(report.split))
        counts[key, default: 0] += 1
      }
    }
    report.counts = counts
  }
}
