/// How a message looks on a phone and in a browser. The script keeps it as one types; without it, it is as of the last check.
struct ComposePreview {
  let form: ComposeForm
  let texts: Texts

  init(_ form: ComposeForm, _ texts: Texts) { (self.form, self.texts) = (form, texts) }

  private enum Device: String, CaseIterable {
    case ios, android, web
    var word: Word {
      switch self {
      case .ios: .previewIOS
      case .android: .previewAndroid
      case .web: .previewWeb
      }
    }
  }

  func write(_ html: inout HTML) {
    html.section("preview", texts[.preview]) { html in
      html.element("p", [.class("nothing-shown")], texts[.nothingShown])
      html.element("div", [.class("looks"), .set(.role, "group"), .set(.ariaLabel, texts[.looks])]) { html in
        pick("language", .language, none: texts[.everybodysWords], &html)
        pick("variant", .variant, none: texts[.noVariant], &html)
        for (look, word) in [("dark", Word.lookDark), ("open", .lookOpen)] {
          html.element("label") { html in
            html.void("input", [.set(.type, "checkbox"), .data(.look, look)])
            html.text(" " + texts[word])
          }
        }
      }
      html.element("div", [.class("phones")]) { html in
        for device in Device.allCases { figure(device, &html) }
      }
      html.element("p", [.class("hint small")], texts[.previewHint])
    }
  }

  private func pick(_ name: String, _ word: Word, none: String, _ html: inout HTML) {
    html.element("label", [.data(.scripted), .flag(.hidden)]) { html in
      html.text(texts[word] + " ")
      html.element("select", [.data(.pick, name), .data(.none, none)]) { html in
        html.element("option", [.set(.value, "")], none)
      }
    }
  }

  private func figure(_ device: Device, _ html: inout HTML) {
    html.element("figure", [.class(device.rawValue)]) { html in
      html.element("figcaption", [.class("quiet")], texts[device.word])
      html.element("div", [.class("screen")]) { html in
        if device == .ios {
          html.element("p", [.class("clock"), .set(.ariaHidden, "true")]) { html in
            html.element("small", texts[.previewDay])
            html.text("9:41")
          }
        }
        html.element("div", [.class("note")]) { html in
          html.element("div", [.class("app"), .set(.ariaHidden, "true")], "F")
          html.element("div") { html in lines(of: device, &html) }
          attachments(of: device, &html)
        }
      }
    }
  }

  private func lines(of device: Device, _ html: inout HTML) {
    let own = form.words[0]
    switch device {
    case .ios:
      html.element("div", [.class("top-line")]) { html in
        show("title", own.title, "title one", blank: .title, &html)
        html.element("span", [.class("pale")], texts[.previewNow])
      }
      show("subtitle", own.subtitle, "title one", &html)
      show("body", own.body, "four closed", blank: .body, &html)
      show("body", own.body, "many opened", blank: .body, &html)
    case .android:
      html.element("p", [.class("pale")], texts[.previewNow])
      show("title", own.title, "title one", blank: .title, &html)
      show("body", own.body, "one closed", blank: .body, &html)
      show("body", own.body, "many opened", blank: .body, &html)
    case .web:
      show("title", own.title, "title one", blank: .title, &html)
      show("body", own.body, "four", blank: .body, &html)
    }
  }

  /// `blank`: what stands there, pale, while nothing is written; nil: nothing does.
  private func show(_ name: String, _ text: String, _ style: String, blank: Word? = nil, _ html: inout HTML) {
    var attributes: [Attribute] = [.class(style), .set(.dir, "auto"), .data(.show, name)]
    if let blank {
      attributes.append(.data(.empty, texts[blank]))
      if text.isEmpty { attributes.append(.data(.blank)) }
    } else {
      attributes.append(.flag(.hidden, text.isEmpty))
    }
    html.element("p", attributes, text.isEmpty ? blank.map { texts[$0] } ?? "" : text)
  }

  /// The picture is not loaded: nothing is, from elsewhere. Its place names the host.
  private func attachments(of device: Device, _ html: inout HTML) {
    let host = form.image.split(separator: "/").dropFirst().first.map(String.init) ?? form.image
    html.element(
      "div", [.class("thumb closed"), .data(.show, "image"), .data(.fixed), .flag(.hidden, host.isEmpty)], "")
    html.element("div", [.class("picture opened"), .data(.show, "image"), .flag(.hidden, host.isEmpty)], host)
    html.element("div", [.class(device == .web ? "choices-shown" : "choices-shown opened")]) { html in
      for place in 0..<(device == .web ? 2 : ComposeForm.mostButtons) {
        let title = place < form.buttons.count ? form.buttons[place].title : ""
        html.element(
          "span", [.set(.dir, "auto"), .data(.show, "button.\(place)"), .flag(.hidden, title.isEmpty)], title)
      }
    }
  }
}
