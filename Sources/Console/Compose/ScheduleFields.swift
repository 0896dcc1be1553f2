/// When a message goes out, how fast, and who is spared.
struct ScheduleFields {
  let form: ComposeForm
  let fields: FormFields
  private var texts: Texts { fields.texts }

  init(_ form: ComposeForm, _ fields: FormFields) { (self.form, self.fields) = (form, fields) }

  func write(_ html: inout HTML) {
    html.element("fieldset", [.class("part")]) { html in
      html.element("legend", texts[.whenItGoes])
      html.element("fieldset") { html in
        html.element("legend", [.class("hidden")], texts[.time])
        html.element("div", [.class("choices")]) { html in
          for (time, word) in [(ComposeForm.Time.now, Word.timeNow), (.at, .timeAt), (.atLocal, .timeLocal)] {
            html.element("label") { html in
              html.void(
                "input",
                [
                  .set(.type, "radio"), .set(.name, "time"), .set(.value, time.rawValue),
                  .flag(.checked, form.time == time),
                ])
              html.text(" " + texts[word])
            }
          }
        }
      }
      html.element("div", [.class("aside of-time")]) { html in
        // The script puts the zone of the browser in the place of UTC.
        html.void(
          "input", [.id("offset"), .set(.type, "hidden"), .set(.name, "offset"), .set(.value, form.offset)])
        fields.input(
          .init(
            name: "at", label: texts[.dateAndTime], value: form.at, type: "datetime-local", style: "field short",
            hint: texts(.zoneOfTime, "UTC" + (form.offset == "+00:00" ? "" : form.offset)),
            attributes: [.data(.zone, texts[.zoneOfTime]), .data(.lost, texts[.noSuchTime])]), &html)
      }
      pace(&html)
      quietHours(&html)
      cap(&html)
    }
  }

  private func pace(_ html: inout HTML) {
    html.element("div", [.class("pair")]) { html in
      fields.input(
        .init(
          name: "per_second", label: texts[.ratePerSecond], value: form.perSecond,
          attributes: [
            .set(.inputMode, "numeric"), .set(.autocomplete, "off"), .set(.placeholder, texts[.asFastAsItGoes]),
          ]), &html)
      fields.select(
        .init(name: "ttl", label: texts[.giveUpAfter], value: form.ttl),
        [
          ("", texts[.usualTime]), ("900", texts(.minutes, "15")), ("3600", texts[.oneHour]),
          ("14400", texts(.hours, "4")), ("86400", texts[.oneDay]), ("604800", texts(.days, "7")),
          ("2419200", texts(.days, "28")),
        ], &html)
      fields.select(
        .init(name: "quiet", label: texts[.quietHours], value: form.quiet.rawValue),
        [("app", texts[.quietOfApp]), ("own", texts[.quietOwn]), ("none", texts[.quietNone])], &html)
    }
  }

  private func quietHours(_ html: inout HTML) {
    html.element("div", [.class("pair aside of-quiet")]) { html in
      for (name, label, value) in [
        ("quiet_from", Word.quietFrom, form.quietFrom), ("quiet_to", .quietUntil, form.quietTo),
      ] {
        fields.input(.init(name: name, label: texts[label], value: value, type: "time"), &html)
      }
      fields.select(
        .init(name: "quiet_else", label: texts[.inQuietHours], value: form.quietElse),
        [("hold", texts[.quietHold]), ("skip", texts[.quietSkip])], &html)
    }
  }

  private func cap(_ html: inout HTML) {
    html.element("label", [.class("check")]) { html in
      html.void(
        "input",
        [
          .set(.type, "checkbox"), .id("capped"), .set(.name, "capped"), .set(.value, "1"),
          .flag(.checked, form.isCapped),
        ])
      html.text(" " + texts[.notTooOften])
    }
    html.element("div", [.class("pair aside of-cap")]) { html in
      fields.input(
        .init(
          name: "topic", label: texts[.topic], value: form.topic,
          attributes: [.set(.autocomplete, "off"), .set(.maxLength, "64")]), &html)
      fields.input(
        .init(
          name: "cap_max", label: texts[.capMaximum], value: form.capMaximum,
          attributes: [.set(.inputMode, "numeric"), .set(.autocomplete, "off")]), &html)
      fields.select(
        .init(name: "cap_per", label: texts[.capPeriod], value: form.capPeriod),
        [("day", texts[.oneDayEach]), ("week", texts[.oneWeekEach])], &html)
    }
  }
}
