import CommandFrame

/// The program's own command line.
enum Tool {
  static let program = Program(
    name: "fanfare", summary: "one push API for APNs, FCM, OneSignal and Web Push, durable in Redis",
    commands: [
      DevCommand.command, ServeCommand.command,
      SendCommand.command, CheckCommand.command, StatusCommand.command, ConsoleCommand.command, KeysCommand.command,
      AuditCommand.command,
      DevicesCommand.command,
      ChannelsCommand.command, AudienceCommand.command,
      UsersCommand.command, UsersCommand.tags, DraftsCommand.command, TestListsCommand.command, MessagesCommand.command,
      RenderCommand.command,
      SandboxCommand.command,
      LoginCommand.login, LoginCommand.logout, LoginCommand.list, VersionCommand.command,
    ],
    firstStep: "fanfare dev     (runs Redis, the sandbox and the gateway on this machine)")
}
