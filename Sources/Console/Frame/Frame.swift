import Domain
import HTTPServer
import Store

/// What all pages have around them.
enum Frame {
  /// Of a page for somebody who is signed in. `section`: the word of the rail that it belongs to; nil: none. `liveFrom`: where
  /// its live parts are fetched from; nil: from its own address.
  static func page(
    _ visitor: Visitor, title: String, section: Word?, status: Int = 200, liveFrom: Link? = nil,
    _ main: (inout HTML) -> Void
  ) -> HTTPServerResponse {
    let (visit, texts) = (visitor.visit, visitor.texts)
    return document(visit, title: title, isPlain: false, status: status) { html in
      html.element("a", [.class("skip"), .href(Link(fragment: "main"))], texts[.skip])
      html.element("header", [.class("top")]) { html in
        html.element("a", [.class("brand"), .href(Link())]) { html in
          html.element("strong", visitor.key.app.rawValue)
          html.text(" ")
          html.element("span", environment(visit))
        }
        search(visit, &html)
        html.element("div", [.class("tools")]) { html in
          themeButton(texts, &html)
          html.element("span", [.class("who quiet")], visitor.key.name.isEmpty ? visitor.key.id : visitor.key.name)
          form(visitor, Link("sign-out"), &html) { $0.element("button", texts[.signOut]) }
        }
      }
      html.element("nav", [.class("rail"), .set(.ariaLabel, texts[.navigation])]) { html in
        html.element("ul") { html in
          for (word, link) in sections {
            html.element("li") { html in
              let current: [Attribute] = word == section ? [.set(.ariaCurrent, "page")] : []
              html.element("a", [.href(link)] + current, texts[word])
            }
          }
        }
      }
      let source = liveFrom.map { [Attribute.data(.liveFrom, $0.text)] } ?? []
      html.element("main", [.id("main"), .set(.tabIndex, "-1")] + source) { html in
        main(&html)
        html.element("footer", [.class("quiet small")]) { html in
          html.element("noscript") { $0.element("p", texts[.timeZone]) }
          html.element("p", [.data(.zoneHere, texts[.zoneHere]), .flag(.hidden)], "")
          form(visitor, Link("sign-out-everywhere"), &html) {
            $0.element("button", [.class("plainly")], texts[.signOutEverywhere])
          }
        }
      }
    }
  }

  /// Of a page that anybody may see.
  static func plain(_ visit: Visit, title: String, status: Int, _ main: (inout HTML) -> Void) -> HTTPServerResponse {
    document(visit, title: title, isPlain: true, status: status) { html in
      html.element("main", [.id("main"), .set(.tabIndex, "-1")]) { html in
        brand(visit, &html)
        main(&html)
      }
    }
  }

  /// Parts of a page, for its script to put in their places.
  static func part(_ visitor: Visitor, _ content: (inout HTML) -> Void) -> HTTPServerResponse {
    var html = HTML()
    html.doctype()
    html.element("html", [.set(.lang, visitor.texts.language)]) { html in
      html.element("head") { $0.element("title", visitor.texts[.product]) }
      html.element("body", [], content)
    }
    return HTTPServerResponse(status: 200, headers: SafeHeaders.page(visitor.visit), body: html.bytes)
  }

  /// Of a page that is made to be printed: nothing around it but whose it is.
  static func paper(_ visit: Visit, title: String, _ main: (inout HTML) -> Void) -> HTTPServerResponse {
    document(visit, title: title, isPlain: false, status: 200, isPaper: true) { html in
      html.element("main", [.id("main"), .set(.tabIndex, "-1")]) { html in
        brand(visit, &html)
        main(&html)
      }
    }
  }

  /// A page that asks for itself again at once.
  static func again(_ visit: Visit) -> HTTPServerResponse {
    document(visit, title: visit.texts[.signIn], isPlain: true, status: 200, asksAgain: true) { html in
      html.element("main") { $0.element("p") { $0.element("a", [.href(Link())], visit.texts[.back]) } }
    }
  }

  /// A form that is sent with the secret of the session.
  static func form(
    _ visitor: Visitor, _ action: Link, attributes: [Attribute] = [], _ html: inout HTML,
    _ content: (inout HTML) -> Void
  ) {
    html.element("form", [.set(.method, "post"), .action(action)] + attributes) { html in
      html.void(
        "input",
        [
          .set(.type, "hidden"), .set(.name, Visitor.formField), .set(.value, visitor.session.formSecret),
          .set(.autocomplete, "off"),
        ])
      content(&html)
    }
  }

  // MARK: Parts

  private static func brand(_ visit: Visit, _ html: inout HTML) {
    html.element("p", [.class("brand")]) { html in
      html.element("strong", visit.texts[.product])
      html.text(" ")
      html.element("span", environment(visit))
    }
  }

  private static let sections: [(Word, Link)] = [
    (.overview, Link()), (.compose, Link("compose")), (.campaigns, Link("campaigns")), (.people, Link("people")),
    (.audiences, Link("audiences")), (.operations, Link("operations")),
  ]

  private static func environment(_ visit: Visit) -> String {
    visit.settings.environment.isEmpty ? visit.texts[.environmentMissing] : visit.settings.environment
  }

  private static func search(_ visit: Visit, _ html: inout HTML) {
    let texts = visit.texts
    html.element(
      "form", [.class("search"), .set(.role, "search"), .set(.method, "get"), .action(Link("people"))]
    ) { html in
      html.element("label", [.class("hidden"), .set(.for, "search")], texts[.searchHint])
      html.void(
        "input",
        [
          .id("search"), .set(.type, "search"), .set(.name, "q"), .set(.value, visit.query("q")),
          .set(.placeholder, texts[.searchHint]), .data(.shortcut, "/"), .set(.autocomplete, "off"),
          .set(.maxLength, "300"),
        ])
      html.element("button", texts[.searchButton])
    }
  }

  private static func themeButton(_ texts: Texts, _ html: inout HTML) {
    html.element(
      "button",
      [.set(.type, "button"), .class("theme"), .data(.themeToggle), .flag(.hidden), .set(.ariaPressed, "false")]
    ) { $0.element("span", [.class("hidden")], texts[.theme]) }
  }

  private static func document(
    _ visit: Visit, title: String, isPlain: Bool, status: Int, asksAgain: Bool = false, isPaper: Bool = false,
    _ body: (inout HTML) -> Void
  ) -> HTTPServerResponse {
    var html = HTML()
    html.doctype()
    html.element("html", [.set(.lang, visit.texts.language), .set(.dir, "ltr")]) { html in
      html.element("head") { html in
        html.void("meta", [.set(.charset, "utf-8")])
        if asksAgain { html.void("meta", [.set(.httpEquiv, "refresh"), .set(.content, "0")]) }
        html.element("title", "\(title) · \(environment(visit)) · \(visit.texts[.product])")
        html.void("meta", [.set(.name, "viewport"), .set(.content, "width=device-width, initial-scale=1")])
        html.void("meta", [.set(.name, "color-scheme"), .set(.content, "light dark")])
        html.void("link", [.set(.rel, "icon"), .href(Asset.icon.link)])
        html.void("link", [.set(.rel, "stylesheet"), .href(Asset.style.link)])
        html.element("script", [.set(.type, "module"), .src(Asset.script.link)], "")
      }
      html.element(
        "body",
        (isPlain ? [.class("plain")] : isPaper ? [.class("paper")] : []) + [
          .data(.environmentColour, visit.settings.colour.rawValue)
        ], body)
    }
    return HTTPServerResponse(status: status, headers: SafeHeaders.page(visit), body: html.bytes)
  }
}
