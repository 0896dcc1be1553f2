/// Writes HTML. Every text and every value of an attribute is escaped; names of elements and attributes are part of the
/// program. There is no way to write markup that came from outside.
struct HTML {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(16_384) }

  /// An element with what `content` writes.
  mutating func element(
    _ name: StaticString, _ attributes: [Attribute] = [], _ content: (inout HTML) -> Void
  ) {
    open(name, attributes)
    content(&self)
    write("</")
    write(name)
    write(">")
  }

  /// An element that holds a text.
  mutating func element(_ name: StaticString, _ attributes: [Attribute] = [], _ text: String) {
    element(name, attributes) { $0.text(text) }
  }

  mutating func element(_ name: StaticString, _ text: String) { element(name, []) { $0.text(text) } }

  /// An element without content: `input`, `link`, `meta` …
  mutating func void(_ name: StaticString, _ attributes: [Attribute] = []) { open(name, attributes) }

  mutating func text(_ text: String) { escape(text) }

  /// A text of the API, which puts names of fields, calls and settings between backticks.
  mutating func told(_ text: String) {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    // An odd backtick belongs to the text.
    guard parts.count % 2 == 1 else { return escape(text) }
    for (place, part) in parts.enumerated() {
      if place % 2 == 0 { escape(String(part)) } else { element("code", String(part)) }
    }
  }

  mutating func doctype() { write("<!doctype html>\n") }

  /// What another page, or another part of this one, has written.
  mutating func append(_ other: HTML) { bytes += other.bytes }

  // MARK: Parts

  private mutating func open(_ name: StaticString, _ attributes: [Attribute]) {
    write("<")
    write(name)
    for attribute in attributes {
      guard attribute.isThere else { continue }
      write(" ")
      bytes += attribute.name.utf8
      guard let value = attribute.value else { continue }
      write("=\"")
      escape(value)
      write("\"")
    }
    write(">")
  }

  private mutating func write(_ text: StaticString) {
    text.withUTF8Buffer { bytes += $0 }
  }

  private mutating func escape(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): write("&amp;")
      case UInt8(ascii: "<"): write("&lt;")
      case UInt8(ascii: ">"): write("&gt;")
      case UInt8(ascii: "\""): write("&quot;")
      case UInt8(ascii: "'"): write("&#39;")
      // Nothing shows them, and a terminal or a file may do something by them.
      case 0..<9, 11, 12, 14..<32, 127: write("\u{fffd}")
      default: bytes.append(byte)
      }
    }
  }
}

/// An attribute of an element. A value that leads somewhere is a `Link`: it cannot become a script.
struct Attribute {
  fileprivate let name: String
  /// Nil: it has none, as `disabled`.
  fileprivate let value: String?
  fileprivate let isThere: Bool

  private init(_ name: String, _ value: String?, isThere: Bool = true) {
    (self.name, self.value, self.isThere) = (name, value, isThere)
  }

  static func `class`(_ names: String) -> Self { Self("class", names) }
  static func id(_ id: String) -> Self { Self("id", id) }
  static func href(_ link: Link) -> Self { Self("href", link.text) }
  static func src(_ link: Link) -> Self { Self("src", link.text) }
  static func action(_ link: Link) -> Self { Self("action", link.text) }
  /// Any other than those above, which may lead somewhere or hold a script.
  static func set(_ name: SafeAttribute, _ value: String) -> Self { Self("\(name.name)", value) }
  /// One without a value, if `condition` holds.
  static func flag(_ name: FlagAttribute, _ condition: Bool = true) -> Self {
    Self("\(name.name)", nil, isThere: condition)
  }
  /// `data-…`, `name` being what stands behind it.
  static func data(_ name: DataAttribute, _ value: String = "") -> Self { Self(name.name, value) }
}

/// Attributes whose value is a word or a text, and leads nowhere.
enum SafeAttribute {
  case lang, dir, charset, httpEquiv, name, content, rel, type, value, method, `for`, placeholder, title, autocomplete,
    role,
    scope, ariaLabel,
    ariaLabelledBy, ariaCurrent, ariaLive, ariaHidden, ariaDescribedBy, colspan, datetime, inputMode,
    maxLength, x, y, x1, x2, y1, y2, width, height, viewBox, points, preserveAspectRatio, textAnchor, ariaInvalid,
    ariaPressed, tabIndex, max, download, spellcheck, form, list, rows, min, low, high, optimum, autocapitalize,
    enctype,
    accept

  fileprivate var name: StaticString {
    switch self {
    case .lang: "lang"
    case .dir: "dir"
    case .charset: "charset"
    case .httpEquiv: "http-equiv"
    case .name: "name"
    case .content: "content"
    case .rel: "rel"
    case .type: "type"
    case .value: "value"
    case .method: "method"
    case .for: "for"
    case .placeholder: "placeholder"
    case .title: "title"
    case .autocomplete: "autocomplete"
    case .role: "role"
    case .scope: "scope"
    case .ariaLabel: "aria-label"
    case .ariaLabelledBy: "aria-labelledby"
    case .ariaCurrent: "aria-current"
    case .ariaLive: "aria-live"
    case .ariaHidden: "aria-hidden"
    case .ariaDescribedBy: "aria-describedby"
    case .colspan: "colspan"
    case .datetime: "datetime"
    case .inputMode: "inputmode"
    case .maxLength: "maxlength"
    case .x: "x"
    case .y: "y"
    case .x1: "x1"
    case .x2: "x2"
    case .y1: "y1"
    case .y2: "y2"
    case .width: "width"
    case .height: "height"
    case .viewBox: "viewBox"
    case .points: "points"
    case .preserveAspectRatio: "preserveAspectRatio"
    case .textAnchor: "text-anchor"
    case .ariaInvalid: "aria-invalid"
    case .tabIndex: "tabindex"
    case .ariaPressed: "aria-pressed"
    case .max: "max"
    case .download: "download"
    case .spellcheck: "spellcheck"
    case .form: "form"
    case .list: "list"
    case .rows: "rows"
    case .min: "min"
    case .low: "low"
    case .high: "high"
    case .optimum: "optimum"
    case .autocapitalize: "autocapitalize"
    case .enctype: "enctype"
    case .accept: "accept"
    }
  }
}

enum FlagAttribute {
  case required, disabled, selected, checked, autofocus, open, hidden, novalidate

  fileprivate var name: StaticString {
    switch self {
    case .required: "required"
    case .disabled: "disabled"
    case .selected: "selected"
    case .checked: "checked"
    case .autofocus: "autofocus"
    case .open: "open"
    case .hidden: "hidden"
    case .novalidate: "novalidate"
    }
  }
}

/// `data-` and its value: what the script and the style sheet of the console look for.
enum DataAttribute: String {
  case state, live, lost, relative, part, shortcut
  case liveToggle = "live-toggle"
  case liveState = "live-state"
  case liveFrom = "live-from"
  case themeToggle = "theme-toggle"
  case environmentColour = "environment-colour"

  case upload, wait
  case tooLarge = "too-large"
  case waitState = "wait-state"
  case zoneHere = "zone-here"

  // The composer.
  case check, empty, scripted, number, most, builder, tags, editor, join, blocks, add, of, text, kind, not, sign,
    value, remove
  case checked, busy, ended, field, pick, none, look, show, fixed, blank, unsaved, zone
  case `for` = "for"
  case repeated = "repeat"
  case addTo = "add-to"
  case byHand = "by-hand"
  case checkState = "check-state"

  fileprivate var name: String { "data-" + rawValue }
}
