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
      .credentials: "Zugänge zu Anbietern",
      .activity: "Abgeschlossene Zustellungen, die letzten 24 Stunden",
      .activityTotal: "%1 Zustellungen endeten in %2 Stunden.",
      .activityMost: "Die meisten ab %1 Uhr (UTC): %2.",
      .noActivity: "In den letzten 24 Stunden endete keine Zustellung.",
      .perHour: "Zustellungen pro Stunde, Zeiten in UTC",
      .perSecond: "%1 pro Sekunde",
      .asTable: "Die Zahlen als Tabelle",
      .hour: "Stunde ab",
      .all: "Alle",
      .credential: "Zugang",
      .noCredentials: "Die Konfiguration nennt für diese App keinen Zugang: Es kann nichts gesendet werden.",
      .credentialIdle: "Bereit",
      .credentialOpen: "Sendet",
      .credentialWaiting: "Wartet",
      .credentialProbing: "Neuer Versuch",
      .credentialFailing: "Gestört",
      .credentialUnreachable: "Nicht erreichbar",
      .credentialBlocked: "Abgewiesen",
      .fixWaiting: "Der Anbieter bat um eine Pause; danach geht es von selbst weiter.",
      .fixFailing:
        "Der Anbieter antwortet mit Fehlern; Fanfare versucht es weiter. Sehen Sie den Grund an und die Statusseite des Anbieters.",
      .fixUnreachable: "Keine Verbindung kommt zustande: Prüfen Sie Netz, Firewall und die Statusseite des Anbieters.",
      .fixBlocked:
        "Der Anbieter weist den Zugang ab: Tragen Sie gültige Zugangsdaten in die Konfiguration ein und laden Sie sie neu.",
      .fixExpiry: "Holen Sie neue Zugangsdaten beim Anbieter und tragen Sie sie in die Konfiguration ein.",
      .brakeOn: "Mehr Tokens als üblich wurden als tot gemeldet: %1 warten auf Ihre Entscheidung.",
      .jobs: "Aufträge",
      .expires: "Gültig bis",
      .connections: "Verbindungen",
      .atWork: "Anfragen unterwegs",
      .ofWhole: "%1 von %2",
      .oldest: "Ältester",
      .nextTry: "Nächster Versuch",
      .queue: "Warteschlange",
      .queueLead:
        "Ein Auftrag ist eine Liste von Zustellungen über denselben Zugang. Er geht, wenn jede ein Ergebnis hat oder auf einen neuen Versuch wartet.",
      .retries: "Warten auf einen neuen Versuch",
      .quarantined: "Unlesbare Einträge",
      .redis: "Redis",
      .version: "Version",
      .memory: "Speicher",
      .memoryOf: "%1 von %2",
      .memoryWithout: "%1, ohne Grenze",
      .persistence: "Auf der Platte",
      .appendOnly: "Append-only-Datei, gesichert: %1",
      .noAppendOnly: "keine Append-only-Datei",
      .replicas: "Replikate",
      .losses: "Was verloren gehen kann",
      .noLosses: "Von Angenommenem geht nicht mehr verloren, als oben unter „Auf der Platte“ steht.",

        // Reports of campaigns.

        // Facts of people.
    ], group: ".", decimal: ",")
}
