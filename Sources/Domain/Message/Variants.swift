/// One of several contents of a message: a share of its devices gets it.
package struct Variant: Hashable, Sendable {
  package var name: String
  /// Hundredths of a percent.
  package var weight: Int
  /// The message's own with the variant's members laid over.
  package var notification: Notification?
  package var data: [JSONMember]

  /// `notification` and `data`: whole, with the message's own parts already laid under.
  package init(name: String, weight: Int, notification: Notification?, data: [JSONMember]) {
    self.name = name
    self.weight = weight
    self.notification = notification
    self.data = data
  }
}

/// How the devices of a message are shared out. With variants, all shares together are `whole`.
package struct VariantShares: Hashable, Sendable {
  /// In hundredths of a percent.
  package static let whole = 10_000

  package var names: [String]
  /// As many as names.
  package var weights: [Int]
  /// Devices that get nothing, to compare with.
  package var holdout: Int

  /// With variants, weights and holdout make up `whole`. Without them the holdout is less than that, and all others get
  /// the message's own content.
  package init(names: [String], weights: [Int], holdout: Int) {
    self.names = names
    self.weights = weights
    self.holdout = holdout
  }
}

/// Which device gets which variant: a function of the message and the device alone, so that retries, other workers and
/// later readers come to the same answer without anything being kept per delivery.
package struct VariantSplit: Hashable, Sendable {
  /// What a device gets of a message with variants.
  package enum Place: Hashable, Sendable {
    /// There are no variants: it gets what all get.
    case all
    case variant(Int)
    case holdout
  }

  package var shares: VariantShares
  /// The message, or the one that it sends again: who failed gets the same variant once more.
  package var seed: MessageID

  /// `seed`: of a message that sends another one again, the first one's id.
  package init(shares: VariantShares, seed: MessageID) {
    self.shares = shares
    self.seed = seed
  }

  /// The same for ever, in all versions: reports compute it anew. Costs a hash of the device's id.
  package func place(of device: DeviceID) -> Place {
    var point = Int(((hash(device) >> 32) * UInt64(VariantShares.whole)) >> 32)
    for (index, weight) in shares.weights.enumerated() {
      if point < weight { return .variant(index) }
      point -= weight
    }
    return point < shares.holdout ? .holdout : .all
  }

  /// Nil: none, or nothing at all.
  package func name(of device: DeviceID) -> String? {
    if case .variant(let index) = place(of: device) { shares.names[index] } else { nil }
  }

  /// FNV-1a over the seed's bytes and the device's, with a final mix: part of what is stored, as reports compute it anew.
  private func hash(_ device: DeviceID) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for word in [seed.high, seed.low] {
      for shift in stride(from: 56, through: 0, by: -8) {
        hash = (hash ^ (word >> UInt64(shift) & 0xff)) &* 0x100_0000_01b3
      }
    }
    for byte in device.rawValue.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }
}

extension Message {
  /// The most that a message may have.
  package static let maximumVariants = 16

  /// Nil: everyone gets the same.
  package var shares: VariantShares? {
    guard !fields.variants.isEmpty || fields.holdout > 0 else { return nil }
    return VariantShares(
      names: fields.variants.map(\.name), weights: fields.variants.map(\.weight), holdout: fields.holdout)
  }

  /// All that a device can get: the message itself, or each of its variants with its name.
  package var contents: [(name: String?, message: Message)] {
    guard !fields.variants.isEmpty else { return [(nil, self)] }
    return fields.variants.indices.map { (fields.variants[$0].name, content(of: $0)) }
  }

  /// The message as the devices of one variant get it; nil: those of none.
  package func content(of variant: Int?) -> Message {
    guard let variant, fields.variants.indices.contains(variant) else { return self }
    var content = fields
    content.notification = fields.variants[variant].notification
    content.data = fields.variants[variant].data
    content.variants = []
    content.holdout = 0
    return Message(content)
  }
}
