import Domain
import Store

/// What frequent operations of the audit trail are called.
enum OperationWords {
  static let all: [String: Word] = [
    "sendMessage": .didSendMessage, "sendMessages": .didSendMessages, "sendDraft": .didSendDraft,
    "createDraft": .didCreateDraft, "replaceDraft": .didReplaceDraft, "approveDraft": .didApproveDraft,
    "testDraft": .didTestDraft, "duplicateDraft": .didDuplicateDraft, "deleteDraft": .didDeleteDraft,
    "pauseMessage": .didPauseMessage, "resumeMessage": .didResumeMessage, "cancelMessage": .didCancelMessage,
    "rescheduleMessage": .didRescheduleMessage, "replayMessage": .didReplayMessage, "createKey": .didCreateKey,
    "changeKey": .didChangeKey, "rotateKey": .didRotateKey, "revokeKey": .didRevokeKey, "signIn": .signIn,
    "signOut": .signOut, "signOutEverywhere": .signOutEverywhere, "putAudience": .didPutAudience,
    "deleteAudience": .didDeleteAudience, "deleteDevice": .didDeleteDevice, "deleteUser": .didDeleteUser,
    "applyPrunes": .didApplyPrunes, "discardPrunes": .didDiscardPrunes, "undoPrunes": .didUndoPrunes,
    "exportDevices": .didExportDevices, "timeline": .didTimeline, "listDeliveries": .didListDeliveries,
    "listMessages": .didListMessages, "listAudit": .didListAudit, "listKeys": .didListKeys,
    "listAudiences": .didListAudiences, "listTags": .didListTags, "listDrafts": .didListDrafts,
  ]
}

/// Names of keys by their ids; empty for whoever may not read them.
struct KeyNames {
  private var names: [String: String] = [:]

  init(_ names: [String: String] = [:]) { self.names = names }

  /// Asks only where the key that signed in may; without an answer ids are shown.
  static func known(to visitor: Visitor) async -> KeyNames {
    guard visitor.may(.keys), case .success(let answer) = await visitor.get("v1", "keys") else { return KeyNames() }
    return KeyNames(answer: answer)
  }

  init(answer: JSONValue) {
    for key in (answer["items"]?.array ?? []).map(ListedKey.init) where !key.id.isEmpty && !key.name.isEmpty {
      names[key.id] = key.name
    }
  }

  /// Nil: it has none, or nobody tells.
  func name(of id: String) -> String? { names[id] }
}
