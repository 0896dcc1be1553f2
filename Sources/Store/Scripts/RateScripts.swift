import RedisClient

extension Scripts {
  /// Permissions from buckets that must all have some; none is taken unless all are. A bucket fills at its rate, holds what
  /// came in `burst`, and one at first. With a ramp its rate grows from a fiftieth to the whole in that time, and begins
  /// anew after as long a rest. KEYS buckets · ARGV how many, then per bucket: rate per second, burst and ramp in
  /// milliseconds → how many, milliseconds until there is one more
  static let grant = RedisScript(
    "grant",
    """
    #!lua flags=allow-oom
    local t = redis.call('TIME')
    local now = t[1] * 1000000 + t[2]
    local count, wait, buckets = tonumber(ARGV[1]), 0, {}
    for i, key in ipairs(KEYS) do
      local rate, burst, ramp = tonumber(ARGV[i * 3 - 1]), ARGV[i * 3] * 1000, ARGV[i * 3 + 1] * 1000
      local held = redis.call('HMGET', key, 'n', 'b')
      local began = tonumber(held[2] or now)
      if ramp > 0 then
        if not held[1] or now - held[1] > ramp then began = now end
        rate = rate * math.max(\(rampFloor), math.min(1, (now - began) / ramp))
      end
      local one = 1000000 / rate
      -- One and a little more, as now is not exact to the last microsecond: a bucket that waits for one gets it.
      local least = math.ceil(one) + 1
      local taken = math.min(now, math.max(tonumber(held[1] or now - least), now - math.max(burst, least)))
      local has = (now - taken) / one
      local whole = math.floor(has + 0.000001)
      count = math.min(count, whole)
      wait = math.max(wait, (1 - (has - whole)) * one)
      buckets[i] = {taken, one, began, ramp, burst}
    end
    if count > 0 then
      for i, key in ipairs(KEYS) do
        local b = buckets[i]
        redis.call('HSET', key, 'n', string.format('%.0f', b[1] + count * b[2]), 'b', string.format('%.0f', b[3]))
        redis.call('PEXPIRE', key, string.format('%.0f', 60000 + (b[2] + b[4] + b[5]) / 1000))
      end
    end
    return {count, math.ceil(wait / 1000)}
    """)

  /// The share of the rate with which a ramp begins: with none it would never.
  private static let rampFloor = 0.02
}
