package import Domain
import RedisClient

/// Recipients that were reached in the last while, counted by all workers together.
package struct RecipientWindow: Hashable, Sendable {
  let key: String
  let milliseconds: Int64

  /// Counted in so many steps: each is forgotten as a whole, when all of it is old enough.
  static let steps: Int64 = 60
}

extension Store {
  package func recipients(under rule: SubscriberRule) -> RecipientWindow {
    RecipientWindow(
      key: keys.rate(keys.partition((rule.group, "")), "w:\(rule.group)"), milliseconds: rule.within)
  }

  /// Takes room for so many more, all or none, where no more than `most` may be reached in the window; and the milliseconds until
  /// there may be. What is more than that alone goes when nothing else was reached.
  package func take(_ count: Int, of most: Int, in window: RecipientWindow) async throws(StoreError)
    -> (isTaken: Bool, wait: Int64)
  {
    let reply = try await askRecipients(count, most, window)
    return (reply[0] == 1, reply[1])
  }

  /// How many were reached.
  package func reached(in window: RecipientWindow) async throws(StoreError) -> Int {
    Int(try await askRecipients(0, 0, window)[2])
  }

  private func askRecipients(_ count: Int, _ most: Int, _ window: RecipientWindow) async throws(StoreError) -> [Int64] {
    let step = window.milliseconds / RecipientWindow.steps
    let reply =
      try await ask(
        Scripts.recipients, keys: [window.key],
        [.number(Int64(count)), .number(Int64(most)), .number(step), .number(RecipientWindow.steps)]
      ).array ?? []
    let numbers = reply.compactMap(\.integer)
    guard numbers.count == 3 else { throw .unavailable("recipients were counted in an unknown form", retryAfter: 1) }
    return numbers
  }
}

extension Scripts {
  /// Counts recipients by steps of time, each a field. A step that lies ahead, as the clock went back, counts as the present one.
  /// KEYS window · ARGV how many, most, milliseconds of a step, steps → 1 if taken, milliseconds until it may be, sum
  static let recipients = RedisScript(
    "recipients",
    """
    #!lua flags=allow-oom
    local t = redis.call('TIME')
    local now = t[1] * 1000 + math.floor(t[2] / 1000)
    local count, most, long, steps = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
    local step = math.floor(now / long)
    local sum, ahead, held = 0, 0, {}
    local fields = redis.call('HGETALL', KEYS[1])
    for i = 1, #fields, 2 do
      local at, some = tonumber(fields[i]), tonumber(fields[i + 1])
      if at < step - steps then
        redis.call('HDEL', KEYS[1], fields[i])
      else
        sum = sum + some
        if at > step then
          redis.call('HDEL', KEYS[1], fields[i])
          ahead, at = ahead + some, step
        end
        held[#held + 1] = {at, some}
      end
    end
    local keep = (steps + 2) * long
    if ahead > 0 then
      redis.call('HINCRBY', KEYS[1], step, ahead)
      redis.call('PEXPIRE', KEYS[1], keep)
    end
    if count == 0 then return {0, 0, sum} end
    if sum == 0 or sum + count <= most then
      redis.call('HINCRBY', KEYS[1], step, count)
      redis.call('PEXPIRE', KEYS[1], keep)
      return {1, 0, sum + count}
    end
    table.sort(held, function(a, b) return a[1] < b[1] end)
    local left, wait = sum, 0
    for _, one in ipairs(held) do
      left = left - one[2]
      wait = (one[1] + steps + 1) * long - now
      if left == 0 or left + count <= most then break end
    end
    return {0, math.max(1, wait), sum}
    """)
}
