package import Domain

/// How a message is shared out, beside it: names and weights outlive its body.
extension VariantSplit {
  /// Of the message's hash.
  static let field = "va"

  var packed: [UInt8] {
    var packer = Packer()
    packer.append(seed.raw)
    packer.number(shares.holdout)
    packer.number(shares.names.count)
    for (name, weight) in zip(shares.names, shares.weights) {
      packer.text(name)
      packer.number(weight)
    }
    return packer.bytes
  }

  init(packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    guard let seed = MessageID(raw: Array(try reader.take(16))) else { throw Corrupt() }
    var shares = VariantShares(names: [], weights: [], holdout: try reader.int())
    for _ in 0..<(try reader.int()) {
      shares.names.append(try reader.text())
      shares.weights.append(try reader.int())
    }
    guard reader.isAtEnd else { throw Corrupt() }
    self.init(shares: shares, seed: seed)
  }
}

extension Submission {
  /// `id`: its own.
  package func split(_ id: MessageID) -> VariantSplit? { shares.map { VariantSplit(shares: $0, seed: sharedAs ?? id) } }
}

extension SubmissionTarget {
  /// A device of the holdout is skipped for that reason; a target that has ended already keeps its own reason.
  func shared(out split: VariantSplit) -> SubmissionTarget {
    guard case .queue = route, split.place(of: device) == .holdout else { return self }
    var target = self
    target.route = .ended(.skipped, reason: Snapshot.holdoutReason)
    return target
  }
}

extension MessageArchive {
  /// The seed by which this message's devices were divided among variants: a replay divides them by the same. Nil: it has
  /// no variants, or is unknown.
  package func seed(of id: MessageID, app: AppID) async throws(StoreError) -> MessageID? {
    guard let parts = try await find([id])[0], parts.text("app") == app.rawValue else { return nil }
    return parts.split?.seed
  }
}

extension AudienceStarts {
  /// Members whose records are read at a time.
  private static let dividedAtOnce = 1_000

  /// Shares out the members of an audience by the ids of their devices. Those that are gone belong to no variant.
  func divide(_ groups: [AudienceGroup], by split: VariantSplit, _ app: AppID, _ partition: Int)
    async throws(StoreError) -> [AudienceGroup]
  {
    var divided: [AudienceGroup] = []
    for group in groups {
      var places: [VariantSplit.Place: [UInt32]] = [:]
      for start in stride(from: 0, to: group.numbers.count, by: Self.dividedAtOnce) {
        let numbers = group.numbers[start..<min(group.numbers.count, start + Self.dividedAtOnce)]
        let devices = try await DeviceRecords(session).devices(
          numbers: numbers.map { Int($0) }, partition: partition, app: app, bornBefore: nil)
        for (number, stored) in zip(numbers, devices) {
          places[stored.map { split.place(of: $0.device.id) } ?? .all, default: []].append(number)
        }
      }
      for (place, numbers) in places {
        var share = group
        share.numbers = numbers
        share.place = place
        divided.append(share)
      }
    }
    return divided
  }
}
