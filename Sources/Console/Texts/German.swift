extension Texts {
  static let german = Texts(
    language: "de", name: "Deutsch",
    words: [
      .product: "Fanfare", .skip: "Zum Inhalt", .navigation: "Bereiche", .whereYouAre: "Wo Sie sind",
      .searchHint: "Kennung eines Nutzers oder Geräts", .searchButton: "Suchen", .signOut: "Abmelden",
      .signOutEverywhere: "Überall abmelden", .theme: "Hell oder dunkel", .overview: "Überblick",
      .campaigns: "Kampagnen",
      .people: "Personen", .operations: "Betrieb", .environmentMissing: "Umgebung ohne Namen",
      .timeZone: "Zeiten stehen in UTC, bis das Skript der Seite sie in Ihrer Zeitzone zeigt.",

      .signIn: "Anmelden",
      .signInLead: "Mit einem API-Schlüssel Ihrer App. Sie sehen und tun, was der Schlüssel sehen und tun darf.",
      .apiKey: "API-Schlüssel",
      .apiKeyHint: "Er beginnt mit fan_. Fanfare behält ihn nicht: Ihr Browser bekommt eine Sitzung.",
      .signInButton: "Anmelden",
      .signInPlain: "Diese Seite kam unverschlüsselt: Unterwegs könnte jeder den Schlüssel lesen.",
      .signInPlainFix:
        "Liefern Sie die API mit `listen.certificate_file` aus, oder über einen Proxy, der HTTPS spricht, `X-Forwarded-Proto` sendet und in `listen.trusted_proxies` steht. Auf dem Rechner selbst öffnen Sie die Konsole unter 127.0.0.1.",
      .signInRefused: "Der Schlüssel wurde abgelehnt", .linkLead: "Dieser Link meldet Sie einmal an.",
      .linkUsed:
        "Dieser Link wurde schon benutzt, oder ist älter als fünf Minuten. Machen Sie mit fanfare console einen neuen, oder geben Sie einen Schlüssel an.",

      .errorTitle: "Das ging nicht", .badAddress: "Die Adresse dieser Seite ist nicht wohlgeformt.",
      .forgedForm:
        "Das Formular kam nicht von einer Seite dieser Konsole, oder Ihre Sitzung ist inzwischen eine andere. Es ist nichts geschehen.",
      .noSuchPage: "Diese Seite gibt es nicht.", .notAllowed: "Das darf Ihr Schlüssel nicht",
      .unavailable: "Gerade nicht erreichbar",
      .unavailableFix: "Es wurde nichts geändert. Versuchen Sie es gleich noch einmal.", .back: "Zum Überblick",
      .whatYouCanDo: "Was Sie tun können",

      .queued: "wartet", .scheduled: "geplant", .running: "läuft", .paused: "angehalten", .completed: "fertig",
      .cancelled: "abgebrochen", .active: "aktiv",
      .disabled: "abgeschaltet", .dead: "entfernt",

      .runningNow: "Läuft gerade", .nothingRuns: "Von den jüngsten 100 Nachrichten wird keine gesendet.",
      .allRunning: "Alles, was gesendet wird",
      .latestCampaigns: "Jüngste Kampagnen", .allCampaigns: "Alle Kampagnen", .noCampaigns: "Keine Kampagne passt.",
      .noCampaignsFix: "Senden Sie eine mit POST /v1/messages an eine Zielgruppe, oder lassen Sie einen Filter weg.",
      .name: "Name", .audience: "Zielgruppe", .state: "Zustand", .targets: "Empfänger", .progress: "Fortschritt",
      .failed: "Gescheitert",
      .filter: "Filter", .anyState: "jeder Zustand", .label: "Label", .from: "Von", .to: "Bis", .apply: "Zeigen",
      .clear: "Filter aufheben", .next: "Ältere Kampagnen", .first: "Jüngste", .untitled: "ohne Namen",
      .lineDone: "%1 von %2", .lineRate: "%1 je Sekunde", .lineEnd: "fertig etwa",
      .lineFailed: "%1 gescheitert", .outcomes: "Ergebnisse", .outcome: "Ergebnis", .provider: "Anbieter",
      .reason: "Grund", .count: "Geräte", .share: "Anteil", .whatToDo: "Was zu tun ist",
      .funnel: "Was aus allen Empfängern wurde", .waiting: "wartet", .pause: "Anhalten", .resume: "Fortsetzen",
      .cancel: "Diese Kampagne abbrechen",
      .cancelLead:
        "%1 Zustellungen, die noch nicht gesendet sind, werden aufgegeben. Eine Wiederholung kann sie später als neue Kampagne senden.",
      .cancelName: "Zur Bestätigung schreiben Sie %1", .cancelButton: "Endgültig abbrechen",
      .cancelWrong: "Das ist nicht der Name: Es wurde nichts abgebrochen.",
      .pausedNotice:
        "Angehalten. Begonnene Anfragen sind zu Ende geführt; mehr wird nicht gesendet, bis jemand fortsetzt.",
      .kind: "Art", .details: "Einzelheiten",
      .acceptedAt: "Angenommen", .completedAt: "Fertig", .startsAt: "Beginnt", .duration: "Dauer",
      .live: "Dieser Teil erneuert sich von selbst.", .livePause: "Nicht erneuern",
      .liveLost: "Die Verbindung ist unterbrochen: Diese Zahlen sind alt.",
      .noOutcomes: "Noch hat nichts ein Ergebnis.",

      .outcomeAccepted: "vom Anbieter angenommen", .outcomeFailed: "gescheitert",
      .outcomeDead: "App entfernt, oder Token beendet", .outcomeExpired: "zu spät",
      .outcomeSuperseded: "von einer neueren Nachricht ersetzt", .outcomeCancelled: "abgebrochen",
      .outcomeSkipped: "ausgelassen", .outcomePending: "noch nicht gesendet", .outcomeRetrying: "wird wieder versucht",
      .outcomeBlocked: "Zugangsdaten gesperrt",
      .fixFailed:
        "Sehen Sie den Grund an: Meist stimmt der Inhalt oder die Zugangsdaten nicht. Eine Wiederholung sendet sie neu.",
      .fixDead: "Nichts: Diese Geräte fallen von selbst aus späteren Zielgruppen.",
      .fixExpired: "Geben Sie der Nachricht mehr Lebenszeit, oder mehr Tempo.",
      .fixSkipped: "Nichts: Diese Geräte sollten nicht erreicht werden.",
      .fixCancelled: "Eine Wiederholung sendet sie neu.",
      .fixSuperseded: "Nichts: Eine neuere Nachricht mit demselben Sammelschlüssel kam an ihre Stelle.",

      .peopleLead:
        "Suchen Sie die Kennung eines Nutzers oder eines Geräts: Sie sehen die Geräte, und was aus jeder Nachricht wurde.",
      .personTitle: "Nutzer %1", .nobody: "Von „%1“ ist nichts bekannt.",
      .nobodyFix:
        "Kennungen gelten genau, mit großen und kleinen Buchstaben. Ein gelöschtes Gerät bleibt nur für die Aufbewahrungszeit bekannt.",
      .devices: "Geräte", .device: "Gerät", .platform: "Plattform", .language: "Sprache", .tags: "Tags",
      .lastSeen: "Zuletzt gesehen", .registered: "Angemeldet", .token: "Token",
      .timeline: "Nachrichten an dieses Gerät",
      .timelineEmpty: "Innerhalb der Aufbewahrungszeit ging keine Nachricht an dieses Gerät.", .when: "Wann",
      .attempts: "Versuche", .attributes: "Attribute",
      .userTags: "Tags des Nutzers", .noTags: "keine", .deviceGone: "Dieses Gerät bekommt nichts: %1.",
      .whyNot: "Warum, oder warum nicht",
      .attention: "verdient einen Blick",
      .noWorkers: "Kein Arbeitsprozess läuft, oder Ihr Schlüssel darf sie nicht sehen.",
      .cancelUnknown: "Noch ist nichts gesendet. Es wird auch nichts gesendet.",
      .noneYet: "Noch wurde nichts gesendet.",
      .noneYetFix: "Senden Sie eine erste Nachricht mit POST /v1/messages.",
      .older: "Ältere Nachrichten",

      .health: "Befinden", .healthReady: "Alles läuft.",
      .healthUnavailable: "Im Augenblick wird nichts angenommen oder gesendet.", .workers: "Arbeitsprozesse",
      .worker: "Arbeitsprozess", .host: "Rechner", .partitions: "Partitionen", .heartbeat: "Letztes Lebenszeichen",
      .prunes: "Tokens, die entfernt werden sollen",
      .prunesLead:
        "Mehr Tokens als üblich wurden als tot gemeldet, deshalb wurde keines entfernt. Sehen Sie die Gründe an und entscheiden Sie.",
      .prunesNone: "Keines wartet.", .held: "Warten", .applyPrunes: "Entfernen", .discardPrunes: "Behalten",
      .audit: "Wer was getan hat", .auditLead: "Die jüngsten Einträge des Protokolls.",
      .who: "Wer",
      .what: "Was", .object: "Gegenstand",
      .onlyAdmin: "Ein Schlüssel mit dem Recht `admin` sieht hier auch das Protokoll und wartende Tokens.",
      .noAudit: "Noch hat niemand etwas getan.",

      // Compose.

      // Drafts and approval.

      // Audiences, tags and imports.

      // Keys.

      // Activity and credentials.

      // Reports of campaigns.
      .results: "Ergebnisse",
      .resultsEnded: "Beendet",
      .resultsLead:
        "Die Anteile beziehen sich auf beendete Zustellungen. „Fehlgeschlagen“ enthält auch, was zu spät kam.",
      .rateAccepted: "Angenommen",
      .rateFailed: "Fehlgeschlagen",
      .rateDead: "Token erloschen",
      .rateLeftOut: "Ausgelassen",
      .variant: "Variante",
      .notTold: "nicht bekannt",
      .anyValue: "alle",
      .verdictTooFew: "Noch zu wenige: Jede Variante braucht mindestens %1 Ergebnisse.",
      .verdictChance: "Der Unterschied kann Zufall sein.",
      .verdictBetter:
        "%1 ist besser als %2, und dass das Zufall ist, ist zu weniger als 5 % wahrscheinlich. Verglichen wird der Anteil, den der Anbieter angenommen hat.",
      .verdictEarly:
        "Es wird noch gesendet. Wer oft genug hinsieht, hält Zufall für ein Ergebnis: Urteilen Sie am Ende.",
      .ended: "Beendet",
      .reachedLead: "Ob eine Nachricht angezeigt oder geöffnet wurde, melden die Anbieter nicht.",
      .whoActs: "Wer handelt",
      .ownerYou: "Betrieb",
      .ownerSender: "Absender",
      .ownerApp: "App-Entwicklung",
      .ownerNobody: "niemand",
      .nothingToDo: "Es ist nichts zu tun.",
      .reasonUnknownDevice: "Kein Gerät hat diese Id: Registrieren Sie es, oder nehmen Sie sie aus der Liste.",
      .reasonDeviceDeleted: "Das Gerät wurde gelöscht, nachdem die Nachricht angenommen war.",
      .reasonDeviceDisabled:
        "Für dieses Gerät sind Mitteilungen abgeschaltet. Die App schaltet sie ein, wenn der Nutzer zustimmt.",
      .reasonMoved: "Der Token gehört inzwischen zu einem anderen Gerät, das seine eigene Nachricht bekommt.",
      .reasonNoCredential: "Kein Zugang der App bedient solche Tokens: Richten Sie einen ein.",
      .reasonKindUnsupported:
        "Der Anbieter kann diese Art Nachricht nicht an dieses Gerät senden: Wählen Sie andere Anbieter.",
      .reasonTokenKind: "Der Token ist für eine andere Art Nachricht.",
      .reasonProviderExcluded: "Die Nachricht lässt diesen Anbieter aus.",
      .reasonAttributeMissing: "Der Text braucht ein Attribut, das dem Gerät fehlt: Geben Sie einen Ersatzwert an.",
      .reasonHoldout: "Das Gerät gehört zur Vergleichsgruppe, die nichts bekommt.",
      .reasonCapped: "Das Gerät hat zu diesem Thema schon so viele Nachrichten bekommen, wie erlaubt ist.",
      .reasonQuietHours:
        "Es fiel in die Ruhezeit: Halten Sie es bis zu deren Ende zurück, oder geben Sie ihm mehr Zeit.",
      .reasonLocalTime: "Auf der Uhr des Geräts war die Zeit schon vorbei.",
      .reasonPaused: "Die Kampagne war angehalten, bis ihre Zeit um war: Setzen Sie sie früher fort.",
      .reasonMessageExpired:
        "Ihre Zeit war um, bevor sie beginnen konnte: Prüfen Sie, ob alle Arbeitsprozesse aus waren.",
      .reasonAttemptsExhausted:
        "Alle erlaubten Versuche sind verbraucht. Hinter dem Wort steht die letzte Antwort des Anbieters.",
      .reasonGivenUp:
        "Der Anbieter will keine weiteren Versuche, oder die Zeit dafür ist um. Hinter dem Wort steht seine letzte Antwort.",
      .reasonNotConfigured: "Der Zugang fehlte in der Konfiguration: Richten Sie ihn wieder ein.",
      .reasonCannotBeSent: "Kein Anbieter könnte diese Anfrage je annehmen: Lesen Sie den Rest des Grunds.",
      .reasonUnsubscribed: "Das Abonnement ist bei OneSignal aus: Die App fragt den Nutzer noch einmal.",
      .reasonUnregistered:
        "Die App wurde entfernt, oder der Token ist erloschen. Das Gerät kommt wieder, wenn sich die App registriert.",
      .reasonWrongToken:
        "Der Token gehört nicht zu dieser App oder Umgebung. Wenn alle das bekommen: Prüfen Sie Umgebung, Topic und Projekt.",
      .reasonTopic: "Das Topic ist falsch: Prüfen Sie es, oder die Bundle-Id der Geräte.",
      .reasonTooLarge: "Die Nachricht ist dem Anbieter zu groß: Kürzen Sie sie.",
      .reasonInvalidArgument: "FCM weist ein Feld der Nachricht oder den Token zurück.",
      .reasonFirebaseKeys:
        "In Firebase fehlt der Schlüssel für APNs oder Web Push, oder er ist falsch: Sehen Sie in der Firebase-Konsole nach.",
      .deliveries: "Zustellungen",
      .deliveriesOf: "Zustellungen von %1",
      .deliveriesNone: "Keine Zustellung passt. Lassen Sie einen Filter weg.",
      .deliveriesGoOn: "Auf dieser Seite keine; die Suche geht auf der nächsten weiter.",
      .deliveriesLater: "%1 weitere stehen hier, wenn ihre Zeit gekommen ist.",
      .deviceDeleted: "gelöschtes Gerät",
      .pages: "Seiten",
      .nextPage: "Nächste Seite",
      .firstPage: "Erste Seite",
      .report: "Bericht zum Drucken",
      .reportMade: "erstellt am %1",
      .reportBack: "Zurück zur Kampagne",
      .lookCloser: "Genauer ansehen",
      .allDeliveries: "Alle Zustellungen",
      .deliveriesCSV: "Zustellungen als CSV",
      .labels: "Etiketten",
      .labelHint: "Schlüssel:Wert",
      .replayOf: "Erneut gesendet von",
      .replayedBy: "Erneut gesendet als",
      .draftOf: "Geschrieben als Entwurf",
      .pausedByBrake:
        "Von der Fehlerbremse angehalten: Zu viele Zustellungen sind fehlgeschlagen. Sehen Sie die Gründe an; setzen Sie dann fort oder brechen Sie ab.",
      .replay: "Noch einmal an die senden, die sie nicht erreicht hat",
      .replayLead:
        "Bei %1 schlug es fehl, bei %2 kam es zu spät. Sie bekommen dieselbe Nachricht noch einmal, als neue Kampagne. Wen eine frühere Wiederholung erreicht hat, der bleibt aus.",
      .replayButton: "Noch einmal an %1 senden",
      .duplicate: "Als Entwurf kopieren",
      .notTheName: "Das ist nicht der Name: Es wurde nichts getan.",
      .kindAlert: "Mitteilung",
      .kindBackground: "stille Aktualisierung",
      .kindLiveActivity: "Live-Aktivität",
      .kindVoIP: "Anruf",
      .kindLocation: "Standortabfrage",
      .kindComplication: "Komplikation der Uhr",
      .kindFileProvider: "Dateianbieter",
      .kindMDM: "Geräteverwaltung",
      .kindPushToTalk: "Sprechfunk",
      .kindWidgets: "Widgets",
      .kindControls: "Bedienelemente",

        // Facts of people.
    ], group: ".", decimal: ",")
}
