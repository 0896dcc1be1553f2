import Domain

/// The page on which a message is written: the form, and beside it whom it reaches, how it looks, and what providers get.
struct ComposePage {
  let form: ComposeForm
  let visitor: Visitor
  let faults: [FieldFault]
  let check: MessageCheckup
  let lists: TestListNames
  private var texts: Texts { visitor.texts }
  private var fields: FormFields { FormFields(texts, faults) }

  init(_ form: ComposeForm, _ visitor: Visitor, _ faults: [FieldFault], _ check: MessageCheckup, _ lists: TestListNames)
  {
    (self.form, self.visitor, self.faults, self.check, self.lists) = (form, visitor, faults, check, lists)
  }

  /// `isUnsaved`: what the form shows is kept nowhere.
  func write(isUnsaved: Bool, _ html: inout HTML) {
    html.element("div", [.class("columns compose")]) { html in
      let unsaved: [Attribute] = isUnsaved ? [.data(.unsaved)] : []
      Frame.form(
        visitor, Link("compose"),
        attributes: [.id("compose"), .data(.check, Link("compose", "check").text), .flag(.novalidate)] + unsaved, &html
      ) { html in
        head(&html)
        words(&html)
        tap(&html)
        AudienceFields(form, fields).write(&html)
        ScheduleFields(form, fields).write(&html)
        variants(&html)
        technical(&html)
        send(&html)
        for (name, value) in [("draft", form.draft), ("version", form.version)] {
          html.void("input", [.set(.type, "hidden"), .set(.name, name), .set(.value, value)])
        }
        html.mark()
      }
      html.element("div", [.class("beside")]) { html in
        html.element(
          "p",
          [
            .class("live-state"), .set(.role, "status"), .data(.checkState), .data(.busy, texts[.counting]),
            .data(.lost, texts[.checkLost]), .data(.ended, texts[.checkEnded]),
          ], "")
        check.writeFaults(texts, &html)
        check.writeReach(texts, &html)
        ComposePreview(form, texts).write(&html)
        check.writeRequests(texts, &html)
      }
    }
  }

  private func part(_ legend: Word, of style: String = "part", _ html: inout HTML, _ content: (inout HTML) -> Void) {
    html.element("fieldset", [.class(style)]) { html in
      html.element("legend", texts[legend])
      content(&html)
    }
  }

  private func head(_ html: inout HTML) {
    html.element("div", [.class("pair top-pair")]) { html in
      fields.input(
        .init(
          name: "name", label: texts[.draftName], value: form.name,
          attributes: [.set(.maxLength, "128"), .set(.autocomplete, "off")]), &html)
      fields.select(
        .init(name: "kind", label: texts[.kind], value: form.kind),
        [("alert", texts[.alertSeen]), ("background", texts[.backgroundUnseen])], &html)
    }
  }

  /// One group for everybody, one for each language, and an empty one for the next.
  private func words(_ html: inout HTML) {
    part(.whatItSays, of: "part of-alert", &html) { html in
      let all = form.words + (form.words.count < ComposeForm.mostWords ? [ComposeForm.Words()] : [])
      for (place, words) in all.enumerated() {
        html.element("fieldset", [.class("texts"), .data(.repeated, "texts"), .data(.number, String(place))]) { html in
          let legend = place == 0 ? texts[.everybodysWords] : texts[.anotherLanguage]
          html.element(
            "legend", [.data(.empty, legend)], words.language.isEmpty ? legend : words.language)
          if place > 0 {
            fields.input(
              .init(
                name: "lang.\(place)", label: texts[.language], value: words.language, style: "field at-side",
                attributes: [.set(.autocomplete, "off"), .set(.spellcheck, "false"), .set(.autocapitalize, "none")]),
              &html)
          }
          let free: [Attribute] = [.set(.dir, "auto")]
          fields.input(
            .init(name: "title.\(place)", label: texts[.title], value: words.title, attributes: free), &html)
          fields.input(
            .init(name: "subtitle.\(place)", label: texts[.subtitle], value: words.subtitle, attributes: free), &html)
          fields.area(
            .init(name: "body.\(place)", label: texts[.body], value: words.body, attributes: free), rows: 2, &html)
        }
      }
      addButton("texts", most: ComposeForm.mostWords, .addLanguage, &html)
    }
  }

  private func tap(_ html: inout HTML) {
    part(.whatATapDoes, of: "part of-alert", &html) { html in
      html.element("div", [.class("pair")]) { html in
        for (name, label, value) in [("link", Word.tapOpens, form.link), ("image", .picture, form.image)] {
          fields.input(
            .init(
              name: name, label: texts[label], value: value, type: "url",
              attributes: [.set(.placeholder, "https://"), .set(.autocomplete, "off")]), &html)
        }
      }
      html.element("details", [.id("buttons"), .flag(.open, !form.buttons.isEmpty)]) { html in
        html.element("summary", texts[.buttons])
        for place in 0..<ComposeForm.mostButtons {
          let button = place < form.buttons.count ? form.buttons[place] : ComposeForm.Button()
          let number = String(place + 1)
          html.element("div", [.class("pair")]) { html in
            html.void("input", [.set(.type, "hidden"), .set(.name, "button.\(place).id"), .set(.value, button.id)])
            fields.input(
              .init(
                name: "button.\(place).title", label: texts(.buttonTitle, number), value: button.title,
                attributes: [.set(.dir, "auto"), .set(.maxLength, "128")]), &html)
            fields.input(
              .init(
                name: "button.\(place).link", label: texts(.buttonLink, number), value: button.link, type: "url",
                attributes: [.set(.placeholder, "https://")]), &html)
          }
        }
      }
    }
  }

  /// Those that there are, and two more as long as there may be.
  private func variants(_ html: inout HTML) {
    part(.variants, of: "part of-alert", &html) { html in
      html.element("details", [.id("variants"), .flag(.open, !form.variants.isEmpty)]) { html in
        html.element("summary", texts[.compareVariants])
        html.element("p", [.class("hint")], texts[.variantsHint])
        for place in 0..<min(ComposeForm.mostVariants, form.variants.count + 1) {
          let variant = place < form.variants.count ? form.variants[place] : ComposeForm.Variant()
          self.variant(place, variant, &html)
        }
        addButton("variant", most: ComposeForm.mostVariants, .addVariant, &html)
        fields.input(
          .init(
            name: "holdout", label: texts[.holdout], value: form.holdout, style: "field short",
            attributes: [.set(.inputMode, "decimal"), .set(.autocomplete, "off")]), &html)
      }
    }
  }

  private func variant(_ place: Int, _ variant: ComposeForm.Variant, _ html: inout HTML) {
    let base = "variant.\(place)."
    html.element(
      "fieldset", [.class("texts"), .data(.repeated, "variant"), .data(.number, String(place))]
    ) { html in
      html.element(
        "legend", [.data(.empty, texts[.anotherVariant])], variant.name.isEmpty ? texts[.anotherVariant] : variant.name)
      let plain: [Attribute] = [.set(.autocomplete, "off")]
      let free: [Attribute] = [.set(.dir, "auto")]
      fields.input(
        .init(
          name: base + "name", label: texts[.name], value: variant.name, style: "field at-side",
          attributes: plain + [.set(.maxLength, "32")]), &html)
      fields.input(
        .init(name: base + "title", label: texts[.title], value: variant.title, attributes: free), &html)
      fields.input(
        .init(
          name: base + "share", label: texts[.variantShare], value: variant.share, style: "field at-side",
          attributes: plain + [.set(.inputMode, "decimal")]), &html)
      fields.area(
        .init(name: base + "body", label: texts[.body], value: variant.body, attributes: free), rows: 2, &html)
    }
  }

  /// Without the script one group is empty, and the next comes when the draft is saved.
  private func addButton(_ group: String, most: Int, _ word: Word, _ html: inout HTML) {
    html.element("p", [.class("actions")]) { html in
      html.element(
        "button",
        [
          .set(.type, "button"), .data(.scripted), .data(.addTo, group), .data(.most, String(most)), .flag(.hidden),
        ], texts[word])
    }
  }

  private func technical(_ html: inout HTML) {
    part(.forTheApp, &html) { html in
      let isUsed = !(form.sound + form.badge + form.collapseKey + form.data).isEmpty
      html.element("details", [.id("app-fields"), .flag(.open, isUsed)]) { html in
        html.element("summary", texts[.appFields])
        html.element("div", [.class("pair")]) { html in
          for (name, label, hint, value, style) in [
            ("sound", Word.sound, Word.soundHint, form.sound, "field of-alert"),
            ("badge", .badge, .badgeHint, form.badge, "field of-alert"),
            ("collapse_key", .collapseKey, .collapseKeyHint, form.collapseKey, "field"),
          ] {
            fields.input(
              .init(
                name: name, label: texts[label], value: value, style: style, hint: texts[hint],
                attributes: [.set(.autocomplete, "off")]), &html)
          }
        }
        fields.area(
          .init(name: "data", label: texts[.data], value: form.data, attributes: Self.code), rows: 3, &html)
      }
      html.element("details", [.id("rest"), .flag(.open, !form.rest.isEmpty)]) { html in
        html.element("summary", texts[.otherFields])
        fields.area(
          .init(
            name: "json", label: texts[.furtherFields], value: form.rest, hint: texts[.furtherHint],
            attributes: Self.code), rows: 3, &html)
      }
    }
  }

  static let code: [Attribute] = [
    .class("code"), .set(.dir, "ltr"), .set(.spellcheck, "false"), .set(.autocomplete, "off"),
    .set(.autocapitalize, "none"),
  ]

  private func send(_ html: inout HTML) {
    html.element("section", [.class("send"), .set(.ariaLabelledBy, "send-heading")]) { html in
      html.element("h2", [.id("send-heading")], texts[.whatWillHappen])
      check.writeSentence(form, texts, &html)
      html.element("p", [.class("actions")]) { html in
        html.element("button", [.class("primary"), .set(.name, "act"), .set(.value, "continue")]) { html in
          check.writeButton(texts, &html)
        }
        for (act, word) in [("save", Word.saveDraft), ("check", .checkNow)] {
          html.element("button", [.set(.name, "act"), .set(.value, act)], texts[word])
        }
      }
      html.element("p", [.class("actions")]) { html in
        guard !lists.names.isEmpty else {
          html.element("span", [.class("hint")], texts[.noTestLists] + " ")
          return html.element("a", [.href(Link("test-lists"))], texts[.testLists])
        }
        html.element("label", [.set(.for, "test_list")], texts[.tryOn])
        html.element("select", [.id("test_list"), .set(.name, "test_list")]) { html in
          for name in lists.names { html.element("option", [.set(.value, name)], name) }
        }
        html.element("button", [.set(.name, "act"), .set(.value, "test")], texts[.sendTest])
        html.element("a", [.href(Link("test-lists"))], texts[.testLists])
      }
    }
  }
}
