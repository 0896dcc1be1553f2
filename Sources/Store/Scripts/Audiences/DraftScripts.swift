import RedisClient

/// Drafts: n name, v version, c created, u updated, o what it is a copy of, b message, m the id it is sent under.
extension Scripts {
  /// KEYS drafts, draft · ARGV id, limit, now, message, name, what it is a copy of → 1, or 0: there are as many as may be
  static let createDraft = RedisScript(
    "createDraft",
    """
    #!lua
    if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return 0 end
    redis.call('HSET', KEYS[2], 'v', 1, 'c', ARGV[3], 'u', ARGV[3], 'b', ARGV[4])
    if ARGV[5] ~= '' then redis.call('HSET', KEYS[2], 'n', ARGV[5]) end
    if ARGV[6] ~= '' then redis.call('HSET', KEYS[2], 'o', ARGV[6]) end
    redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
    return 1
    """)

  /// What stands against a change, for all that change a draft: KEYS draft, sent · ARGV version or ''
  private static let held = """
    local held = redis.call('HMGET', KEYS[1], 'v', 'm')
    if not held[1] then
      local sent = redis.call('GET', KEYS[2])
      if sent then return {'sent', sent} end
      return {'unknown', ''}
    end
    if ARGV[1] ~= '' and ARGV[1] ~= held[1] then return {'conflict', held[1]} end

    """

  /// KEYS draft, sent · ARGV version or '', now, message, name
  static let replaceDraft = RedisScript(
    "replaceDraft",
    "#!lua\n" + held + """
      if held[2] then return {'sending', held[2]} end
      redis.call('HSET', KEYS[1], 'u', ARGV[2], 'b', ARGV[3])
      if ARGV[4] == '' then redis.call('HDEL', KEYS[1], 'n') else redis.call('HSET', KEYS[1], 'n', ARGV[4]) end
      return {'done', redis.call('HINCRBY', KEYS[1], 'v', 1)}
      """)

  /// KEYS draft, sent, drafts · ARGV version or '', id
  static let deleteDraft = RedisScript(
    "deleteDraft",
    "#!lua flags=allow-oom\n" + held + """
      redis.call('DEL', KEYS[1])
      redis.call('ZREM', KEYS[3], ARGV[2])
      return {'done', held[1]}
      """)

  /// KEYS draft, sent · ARGV version, raw id of the message
  static let reserveDraft = RedisScript(
    "reserveDraft",
    "#!lua\n" + held + """
      if held[2] then return {'sending', held[2]} end
      redis.call('HSET', KEYS[1], 'm', ARGV[2])
      return {'done', held[1]}
      """)

  /// KEYS draft, sent, drafts · ARGV id, raw id of the message, seconds kept
  static let settleDraft = RedisScript(
    "settleDraft",
    """
    #!lua flags=allow-oom
    redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
    redis.call('DEL', KEYS[1])
    redis.call('ZREM', KEYS[3], ARGV[1])
    return 1
    """)

  /// Keeps a text under a name: KEYS texts · ARGV name, text, limit → 1 new, 0 replaced, -1: there are as many as may be
  static let keepNamed = RedisScript(
    "keepNamed",
    """
    #!lua
    if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return -1 end
    return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
    """)
}
