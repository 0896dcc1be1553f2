/// What a message wants of a token: its kind and, of a Live Activity, the event.
package struct PushType: Hashable, Sendable {
  package var kind: Kind
  package var event: LiveActivity.Event?

  /// `event`: of kind `live_activity` only, and always there.
  package init(_ kind: Kind, _ event: LiveActivity.Event? = nil) {
    self.kind = kind
    self.event = event
  }

  /// All there are.
  package static let all: [PushType] = Kind.allCases.flatMap { kind in
    kind == .liveActivity ? LiveActivity.Event.allCases.map { PushType(kind, $0) } : [PushType(kind)]
  }

  /// **The** table of token kinds: the only tokens that this push type may reach, and so the only ones it can prune.
  /// Providers choose among them, they never add.
  package var tokenKinds: [TokenKind] {
    switch (kind, event) {
    case (.alert, _), (.background, _): [.device, .fid, .subscribers]
    // A vendor that keeps the activities itself is told the device.
    case (.liveActivity, .start): [.pushToStart, .device, .fid]
    case (.liveActivity, _): [.activity, .channel, .device, .fid]
    // A vendor without tokens of its own for calls reaches them by the device's.
    case (.voip, _): [.voip, .device, .fid]
    case (.location, _): [.location]
    case (.complication, _): [.complication]
    case (.fileProvider, _): [.fileProvider]
    case (.mdm, _): [.mdm]
    case (.pushToTalk, _): [.pushToTalk]
    case (.widgets, _): [.widgets]
    case (.controls, _): [.controls]
    }
  }
}

extension Message {
  package var pushType: PushType { PushType(self.kind, self.liveActivity?.event) }
}
