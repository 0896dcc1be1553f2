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
      write(attribute.name)
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
  fileprivate let name: StaticString
  /// Nil: it has none, as `disabled`.
  fileprivate let value: String?
  fileprivate let isThere: Bool

  private init(_ name: StaticString, _ value: String?, isThere: Bool = true) {
    (self.name, self.value, self.isThere) = (name, value, isThere)
  }

  static func `class`(_ names: String) -> Self { Self("class", names) }
  static func id(_ id: String) -> Self { Self("id", id) }
  static func href(_ link: Link) -> Self { Self("href", link.text) }
  static func src(_ link: Link) -> Self { Self("src", link.text) }
  static func action(_ link: Link) -> Self { Self("action", link.text) }
  /// Any other than those above, which may lead somewhere or hold a script.
  static func set(_ name: SafeAttribute, _ value: String) -> Self { Self(name.name, value) }
  /// One without a value, if `condition` holds.
  static func flag(_ name: FlagAttribute, _ condition: Bool = true) -> Self {
    Self(name.name, nil, isThere: condition)
  }
  /// `data-…`, `name` being what stands behind it.
  static func data(_ name: DataAttribute, _ value: String = "") -> Self { Self(name.name, value) }
}

/// Attributes whose value is a word or a text, and leads nowhere.
enum SafeAttribute {
  case lang, dir, charset, httpEquiv, name, content, rel, type, value, method, `for`, placeholder, title, autocomplete,
    role,
    scope, ariaLabel,
    ariaLabelledBy, ariaCurrent, ariaLive, ariaHidden, ariaSort, ariaDescribedBy, colspan, datetime, inputMode,
    maxLength, x, y, x1, x2, y1, y2, width, height, viewBox, points, preserveAspectRatio, textAnchor, ariaInvalid,
    ariaPressed, tabIndex, max, download, spellcheck, form, enctype, accept, rows

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
    case .ariaSort: "aria-sort"
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
    case .enctype: "enctype"
    case .accept: "accept"
    case .rows: "rows"
    }
  }
}

enum FlagAttribute {
  case required, disabled, selected, checked, autofocus, open, hidden

  fileprivate var name: StaticString {
    switch self {
    case .required: "required"
    case .disabled: "disabled"
    case .selected: "selected"
    case .checked: "checked"
    case .autofocus: "autofocus"
    case .open: "open"
    case .hidden: "hidden"
    }
  }
}

enum DataAttribute {
  case state, live, liveToggle, liveState, lost, relative, themeToggle, environmentColour, part, shortcut, upload, wait,
    waitState

  fileprivate var name: StaticString {
    switch self {
    case .state: "data-state"
    case .live: "data-live"
    case .liveToggle: "data-live-toggle"
    case .liveState: "data-live-state"
    case .lost: "data-lost"
    case .relative: "data-relative"
    case .themeToggle: "data-theme-toggle"
    case .environmentColour: "data-environment-colour"
    case .part: "data-part"
    case .shortcut: "data-shortcut"
    case .upload: "data-upload"
    case .wait: "data-wait"
    case .waitState: "data-wait-state"
    }
  }
}
