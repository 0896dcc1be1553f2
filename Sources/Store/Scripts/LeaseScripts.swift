import RedisClient

extension Scripts {
  /// KEYS lease · ARGV owner to renew or '', nonce, milliseconds → epoch, or nil: another holds it.
  static let lease = RedisScript(
    "lease",
    """
    #!lua flags=allow-oom
    local t = redis.call('TIME')
    local now = t[1] * 1000 + math.floor(t[2] / 1000)
    local held = redis.call('HMGET', KEYS[1], 'o', 'u', 'e')
    local till = string.format('%.0f', now + tonumber(ARGV[3]))
    if ARGV[1] ~= '' then
      if held[1] ~= ARGV[1] then return false end
      redis.call('HSET', KEYS[1], 'u', till)
      return held[3]
    end
    if held[1] and held[1] ~= '' and tonumber(held[2]) > now then return false end
    local epoch = string.format('%.0f', math.max(now, tonumber(held[3] or 0) + 1))
    redis.call('HSET', KEYS[1], 'o', epoch .. '-' .. ARGV[2], 'u', till, 'e', epoch, 'f', 0, 'c', 0, 'p', 0)
    return epoch
    """)

  /// KEYS lease · ARGV owner, channel, partition
  static let release = RedisScript(
    "release",
    """
    #!lua flags=allow-oom
    if redis.call('HGET', KEYS[1], 'o') == ARGV[1] then
      redis.call('HSET', KEYS[1], 'o', '', 'u', 0)
      redis.call('PUBLISH', ARGV[2], 'l ' .. ARGV[3])
    end
    return 1
    """)

  /// KEYS workers · ARGV milliseconds that a heartbeat lasts, serial → all serials that live, in their order
  static let beat = RedisScript(
    "beat",
    "#!lua flags=allow-oom\n" + Fragment.clock + """
      redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now() - tonumber(ARGV[1])))
      redis.call('ZADD', KEYS[1], now(), ARGV[2])
      local serials = redis.call('ZRANGE', KEYS[1], 0, -1)
      table.sort(serials)
      return serials
      """)
}
