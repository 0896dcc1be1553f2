package import Domain

/// A message that is not sent yet, as an operator left it.
package struct StoredDraft: Hashable, Sendable {
  package var id: DraftID
  package var name: String?
  /// From 1, one more with each change.
  package var version: Int
  package var createdAt: WallTime
  package var updatedAt: WallTime
  /// The draft or message that it is a copy of.
  package var copyOf: String?
  /// The message as JSON; empty where drafts are listed.
  package var body: [UInt8]
  /// It is being sent under this id, and changes no more.
  package var message: MessageID?
  /// The key that wrote this version; nil: it is from before this was kept.
  package var editor: String?
  /// Another key that found this version good; nil: none has.
  package var approver: String?
  package var approvedAt: WallTime?
}

/// What became of an approval.
package enum DraftApproval: Hashable, Sendable {
  case approved
  /// The key wrote this version itself.
  case own
  case refused(DraftChange)
}

/// What a draft's id stands for.
package enum DraftState: Hashable, Sendable {
  case found(StoredDraft)
  /// Sent within retention: the draft is gone, its message is this.
  case sent(MessageID)
  case unknown
}

/// What became of a change of a draft.
package enum DraftChange: Hashable, Sendable {
  /// Its version now.
  case done(Int)
  /// Somebody else changed it: this is its version.
  case conflict(Int)
  case sending(MessageID)
  case sent(MessageID)
  case unknown
}

/// Under which id a draft is sent.
package enum DraftReservation: Hashable, Sendable {
  /// `again`: an earlier request took it, and may have sent it.
  case reserved(MessageID, again: Bool)
  case conflict(Int)
  case sent(MessageID)
  case unknown
}
