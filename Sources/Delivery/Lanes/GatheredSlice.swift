import Store

/// A slice that is gathered. All its members are deliveries, or all are members of an audience without.
typealias GatheredSlice = SlicePlan<SliceTicket>.Closed

/// A member of a slice.
enum SliceTicket {
  case delivery(Delivery)
  case member(BatchTicket)
}

/// A member of an audience in a slice without a delivery of its own: its request in flight is named by `tag`.
struct BatchTicket {
  var tag: Int
  /// The rest of its address is what its batch has in common.
  var token: String
}

extension SlicePlan<SliceTicket>.Closed {
  init(_ slice: StoredSlice, _ deliveries: [Delivery], stored: Bool = true) {
    self.init(slice: slice, members: deliveries.map { .delivery($0) }, stored: stored)
  }

  var deliveries: [Delivery] {
    members.compactMap { if case .delivery(let delivery) = $0 { delivery } else { nil } }
  }
  var batchTickets: [BatchTicket] {
    members.compactMap { if case .member(let member) = $0 { member } else { nil } }
  }
  /// All members of a slice are of one message, and as urgent as the first. Audiences are never urgent.
  var isUrgent: Bool { if case .delivery(let first) = members[0] { first.urgency == .urgent } else { false } }
}
