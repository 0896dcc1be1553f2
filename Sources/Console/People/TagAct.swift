import Domain
import Store

/// One tag that is added or removed, and how that is undone.
struct TagAct: Equatable {
  var adds: Bool
  var tag: String

  private static let (adding, removing) = ("add", "remove")
  private static let (added, removed) = ("added", "removed")

  init(adds: Bool, tag: String) { (self.adds, self.tag) = (adds, tag) }

  /// What a form asks for; nil: nothing that can be understood.
  init?(_ visit: Visit) {
    let tag = visit.field("tag").trimmed
    guard !tag.isEmpty, [Self.adding, Self.removing].contains(visit.field("act")) else { return nil }
    self.init(adds: visit.field("act") == Self.adding, tag: tag)
  }

  /// What the address says was done; nil: nothing.
  static func done(_ visit: Visit) -> TagAct? {
    for (name, adds) in [(added, true), (removed, false)] where !visit.query(name).isEmpty {
      return TagAct(adds: adds, tag: visit.query(name))
    }
    return nil
  }

  var reverse: TagAct { TagAct(adds: !adds, tag: tag) }
  var word: String { adds ? Self.adding : Self.removing }
  /// Of the page behind it.
  var query: [(name: String, value: String)] { [(adds ? Self.added : Self.removed, tag)] }

  /// The body of a change of tags: others that changed meanwhile stay as they are.
  var edit: JSONValue { .object([JSONMember(word, .array([.string(tag)]))]) }

  /// The tags are as they are behind it: an address that says something else is not believed.
  func isSeen(in tags: [String]) -> Bool { tags.contains(tag) == adds }
}

/// Tags on a page, and the forms that change them. `action`: what the forms lead to. `user`: whose the tags are; nil: those
/// of a device, which the action names.
struct TagForms {
  let visitor: Visitor
  let action: Link
  var user: String?

  private var texts: Texts { visitor.texts }

  /// With a button that removes each, and a field that adds one, for whoever may.
  func list(_ tags: [String], _ html: inout HTML) {
    guard visitor.may(.devices) else { return html.tags(tags, texts) }
    if tags.isEmpty {
      html.element("p", [.class("quiet")], texts[.noTags])
    } else {
      html.element("ul", [.class("tags")]) { html in
        for tag in tags {
          html.element("li") { html in
            html.text(tag + " ")
            form(TagAct(adds: false, tag: tag), &html) { html in
              let title = texts(.tagRemove, tag)
              html.element("button", [.set(.ariaLabel, title), .set(.title, title)], "×")
            }
          }
        }
      }
    }
    Frame.form(visitor, action, &html) { html in
      html.hidden("act", TagAct(adds: true, tag: "").word)
      if let user { html.hidden("user", user) }
      html.field("tag", texts[.tagAdd], [.set(.maxLength, "128"), .set(.autocomplete, "off"), .flag(.required)])
      html.element("p", [.class("actions")]) { $0.element("button", texts[.tagAddButton]) }
    }
  }

  private func form(_ act: TagAct, _ html: inout HTML, _ button: (inout HTML) -> Void) {
    Frame.form(visitor, action, &html) { html in
      html.hidden("act", act.word)
      html.hidden("tag", act.tag)
      if let user { html.hidden("user", user) }
      button(&html)
    }
  }

  /// What the address says was done, if the tags show it, and a button that undoes it.
  func undo(_ tags: [String], _ html: inout HTML) {
    guard let act = TagAct.done(visitor.visit), act.isSeen(in: tags), visitor.may(.devices) else { return }
    html.element("div", [.class("notice"), .data(.state, "done"), .set(.role, "status")]) { html in
      html.element("p", texts(act.adds ? .tagAdded : .tagRemoved, act.tag))
      form(act.reverse, &html) { html in
        html.element("button", texts(act.adds ? .tagUndoAdd : .tagUndoRemove, act.tag))
      }
    }
  }
}
