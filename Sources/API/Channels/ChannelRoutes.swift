import Store

extension Endpoint {
  static let channels: [Endpoint] = [
    Endpoint(
      "createChannel", "POST", "/v1/channels", .key([.channels]), "Create a broadcast channel",
      body: .init("ChannelRequest") { $0.channels.reading },
      answers: [.json(201, "Created at the provider", "BroadcastChannel")],
      problems: [.invalidChannel, .channelLimit, .providerRefused, .providerUnavailable]
    ) { $0.channels.createChannel },
    Endpoint(
      "listChannels", "GET", "/v1/channels", .key([.channels, .read]), query: ["environment", "bundle_id", "format"],
      "List or export the broadcast channels of an app",
      answers: [
        .list(
          "All channels of the app in that environment; as NDJSON or CSV too", "BroadcastChannel", "BroadcastChannel")
      ],
      problems: [.notFound, .invalidChannel, .providerRefused, .providerUnavailable]
    ) { $0.channels.listChannels },
    Endpoint(
      "readChannel", "GET", "/v1/channels/{id}", .key([.channels, .read]), query: ["environment", "bundle_id"],
      "Read a broadcast channel",
      answers: [.json(200, "The channel", "BroadcastChannel")],
      problems: [.notFound, .invalidChannel, .providerRefused, .providerUnavailable]
    ) { $0.channels.readChannel },
    Endpoint(
      "deleteChannel", "DELETE", "/v1/channels/{id}", .key([.channels]), query: ["environment", "bundle_id"],
      "Delete a broadcast channel",
      answers: [.empty(204, "Deleted, now or before")],
      problems: [.notFound, .invalidChannel, .providerRefused, .providerUnavailable],
      // Its reader would ask the provider.
      audit: .act(compared: false)
    ) { $0.channels.deleteChannel },
  ]
}
