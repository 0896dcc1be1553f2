/// What the help of `fanfare sandbox` tells beside its options.
enum SandboxHelp {
  static let about = """
    Speaks the vendors' protocols on loopback, validates requests as they do, records what it received and plays faults
    on demand. A line on standard output says when it listens. Ends with ctrl-C.

    In --dir land, made if missing: ca.pem (give it as ca_file); APNs keys apns-key.p8 (SANDBOXKEY of team FANFARE001),
    apns-topic-key.p8 (TOPICKEY01), apns-development-key.p8 (DEVELOPKEY) and another team's, apns-other-team-key.p8
    (OTHERKEY01 of FANFARE002, for com.example.other); certificates with their keys as .pem and .p12 (password in
    certificate.password): apns-certificate, apns-certificate-development, apns-certificate-expired, mdm-certificate; for FCM
    service-account.json and workload-identity.json; onesignal.key and onesignal-legacy.key; sandbox.json with ports and
    paths.

    FCM, OneSignal and the token endpoint speak HTTP/2 and HTTP/1.1 on one port: clients choose by ALPN, or by how they
    begin. APNs speaks HTTP/2. The certificate names localhost and the vendors' own hosts: a client whose host cannot be set
    (firebase-admin) comes through a CONNECT proxy, and trusts ca.pem.

    Control, over plain HTTP: PUT and GET /rules, GET and DELETE /stats, GET and DELETE /log (?after=N&limit=N).

    Rules are a JSON array; the first that fires has the request. Only what a vendor would accept meets rules.
      which     provider (apns channels fcm oauth onesignal), token (with * and ?), share 0…1, times, times_per_token,
                after N, when: "before" (not processed) or "after"
      answers   status 200…999 with reason, timestamp, retry_after, body, body_bytes (made while sent, 1 GB if you like),
                delay_ms. OneSignal's reasons not_subscribed, invalid_player_ids, invalid_aliases go with status 200;
                RATE_LIMIT_EXCEEDED with 429 is FCM's quota without an FcmError
      actions   goaway (code, reason), reset (code; 7 is REFUSED_STREAM), close, stall (delay_ms), settings (streams),
                expire (the request's provider or access token counts as too old from now on: apns, channels, fcm),
                headers (bytes; without: header lines until the client leaves), hpack (undecodable header block). Over
                HTTP/1.1 goaway ends the connection, reset is TCP's, hpack a bad status line, settings nothing
      connects  certificate (certificate: unknown_authority, expired or other_host), handshake (every_ms: a byte each;
                without: never). They meet connections, of every port: times and after count those. oauth's meet
                onesignal's port, which it shares, and the metadata server's
    """

  static let examples = [
    "fanfare sandbox --dir /tmp/vendors", "fanfare sandbox --rules faults.json",
    "curl -s http://127.0.0.1:8446/stats",
    #"curl -X PUT http://127.0.0.1:8446/rules -d '[{"provider":"apns","token":"dead*","status":410}]'"#,
    #"curl -X PUT http://127.0.0.1:8446/rules -d '[{"provider":"fcm","action":"handshake","every_ms":50,"times":2}]'"#,
  ]
}
