/// What the help of `fanfare sandbox` tells beside its options.
enum SandboxHelp {
  static let about = """
    Speaks the vendors' protocols on loopback, validates requests as strictly as they do, logs every request, and
    injects faults on demand. It prints a line on standard output when it listens. Press ctrl-C to stop it.

    The sandbox writes these files to --dir, if they are missing:
      ca.pem                      the authority of its certificates; give it as ca_file
      apns-key.p8                 APNs key SANDBOXKEY of team FANFARE001
      apns-topic-key.p8           APNs key TOPICKEY01 of the same team, topic-specific
      apns-development-key.p8     APNs key DEVELOPKEY of the same team, for the development environment
      apns-other-team-key.p8      APNs key OTHERKEY01 of team FANFARE002, for com.example.other
      apns-certificate, apns-certificate-development, apns-certificate-expired, mdm-certificate
                                  certificates with their keys, as .pem and .p12; certificate.password holds the
                                  password
      service-account.json, workload-identity.json       for FCM
      onesignal.key, onesignal-legacy.key                for OneSignal
      vapid-key.pem               for Web Push; browsers.key: the seed of the browsers' keys
      sandbox.json                ports and paths

    Browsers subscribe at the Web Push port: GET /subscriptions/NAME gives a subscription to register, and
    ?key=APPLICATION_SERVER_KEY one that accepts pushes of that key only. The log shows the decrypted message, and NAME
    as the token.

    FCM, OneSignal, Web Push and the token endpoint accept HTTP/2 and HTTP/1.1 on one port; the client chooses by ALPN
    or by its first bytes. APNs accepts only HTTP/2. The server certificate names localhost and the vendors' own hosts.
    A client whose host cannot be set (firebase-admin) connects through a CONNECT proxy and trusts ca.pem.

    Control, over plain HTTP: PUT and GET /rules, GET and DELETE /stats, GET and DELETE /log (?after=N&limit=N).

    Rules are a JSON array. The first rule that matches a request decides its answer. A rule applies only to requests
    that the vendor would accept. The members of a rule:
      matching     provider (apns channels fcm oauth onesignal webpush), token (with * and ?), share 0…1, times,
                   times_per_token, after N, when: "before" (the request is not processed) or "after"
      answers      status 200…999 with reason, timestamp, retry_after (seconds, or a text for the header, for example
                   an HTTP date), body, body_bytes (generated while sending; 1 GB is possible), delay_ms.
                   OneSignal's reasons not_subscribed, invalid_player_ids and invalid_aliases need status 200.
                   RATE_LIMIT_EXCEEDED with 429 is FCM's quota answer without an FcmError
      actions      goaway (code, reason), reset (code; 7 is REFUSED_STREAM), close, stall (delay_ms), settings (streams),
                   expire (the request's provider or access token counts as expired from now on: apns, channels, fcm),
                   headers (bytes; without bytes: header lines until the client disconnects), hpack (an undecodable
                   header block). Over HTTP/1.1 goaway closes the connection, reset is a TCP reset, hpack is a bad
                   status line, and settings does nothing
      connections  certificate (certificate: unknown_authority, expired or other_host), handshake (every_ms: one byte
                   each; without every_ms: no handshake). These rules apply to connections on every port of the
                   provider; times and after count connections. Rules of oauth apply to OneSignal's port, which the
                   token endpoint shares, and to the metadata server's port
    """

  static let examples = [
    "fanfare sandbox --dir /tmp/vendors", "fanfare sandbox --rules faults.json",
    "curl -s http://127.0.0.1:8446/stats",
    #"curl -X PUT http://127.0.0.1:8446/rules -d '[{"provider":"apns","token":"dead*","status":410}]'"#,
    #"curl -X PUT http://127.0.0.1:8446/rules -d '[{"provider":"fcm","action":"handshake","every_ms":50,"times":2}]'"#,
  ]
}
