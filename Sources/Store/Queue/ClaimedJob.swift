package import Domain

/// How far a stream was claimed.
package struct ClaimPlace: Hashable, Sendable {
  package var job: JobID
  /// That job belongs to an audience and is claimed up to and including this member: go on behind it. `start`: claim
  /// the job, whosever it is, from its beginning. Nil: it is whole.
  package var member: Int?
  /// In place of a member's index, which is 0 or more.
  package static let start = -1
  /// `member` nil: the job is claimed whole.
  package init(job: JobID, member: Int? = nil) {
    self.job = job
    self.member = member
  }
}

/// A job as claimed: only targets that still need work.
package struct ClaimedJob: Sendable {
  package var id: JobID
  package var message: MessageID
  package var targets: [ClaimedTarget]
  /// Of an audience, where members were asked for as they stand.
  package var members: ClaimedMembers?
  package var count: Int { targets.count + (members?.whole ?? 0) }
  /// False: more members of this audience follow behind `lastMember`.
  package var isWhole = true
  /// Of an audience: the last index that was looked at.
  package var lastMember: Int?
  /// What the partition knows of the message's control.
  package var control: Control?
  /// The message, where it came with the job: nobody has touched it.
  package var stored: StoredMessage?

  /// Where the next claim goes on.
  package var place: ClaimPlace { ClaimPlace(job: id, member: isWhole ? nil : lastMember) }
}

/// A delivery as claimed: what is needed to send it, read from the registry at this moment.
package struct ClaimedTarget: Sendable {
  package var delivery: DeliveryID
  package var device: DeviceID
  /// False: a raw token, whose address came with the job.
  package var registered: Bool
  package var credential: CredentialID
  /// Order of acceptance within the partition.
  package var sequence: UInt64
  /// Read now. Nil: the device is gone, `gone` says why (`device_deleted`, a tombstone's reason).
  package var address: Address?
  package var gone: String?
  /// Of a registered device that is not gone, read now.
  package var facts: DeviceFacts?
  /// Of a registered device that is not gone.
  package var number: Int?
  /// Attempts already made and flushed.
  package var attempts: AttemptLog
  /// The stored slice it belongs to, if one was stored before (OneSignal): it goes again with the same members and key.
  package var slice: StoredSlice?
}
