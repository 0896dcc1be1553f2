import RedisClient

/// Of `reindex`: each looks and repairs at one moment, and only if the record is still the one that was judged.
extension Scripts {
  /// KEYS record bucket, bucket of the set, its own key · ARGV field, record or '', name, number within the block, whether it
  /// belongs in (1, 0), whether to repair → 1: it was wrong
  static let mendSet = RedisScript(
    "mendSet",
    "#!lua flags=allow-oom\n" + Fragment.sets + """
      if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
      local form = redis.call('HGET', KEYS[2], ARGV[3])
      local held = '0'
      if form == 'b' then
        if redis.call('GETBIT', KEYS[3], number(ARGV[4], 1)) == 1 then held = '1' end
      elseif place(form == 's' and (redis.call('GET', KEYS[3]) or '') or form or '', ARGV[4]) then
        held = '1'
      end
      if held == ARGV[5] then return 0 end
      if ARGV[6] == '1' then
        if ARGV[5] == '1' then
          change(KEYS[2], KEYS[3], ARGV[3], ARGV[4], '')
        else
          change(KEYS[2], KEYS[3], ARGV[3], '', ARGV[4])
        end
      end
      return 1
      """)

  /// KEYS record bucket, index bucket · ARGV field, record or '', hash and number, whether it belongs in, whether to repair
  /// → 1: it was wrong
  static let mendIndex = RedisScript(
    "mendIndex",
    "#!lua flags=allow-oom\n" + Fragment.index + """
      if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
      local held, found = redis.call('GET', KEYS[2]) or '', '0'
      for i = 1, #held, 8 do
        if string.sub(held, i, i + 7) == ARGV[3] then found = '1' end
      end
      if found == ARGV[4] then return 0 end
      if ARGV[5] == '1' then
        if ARGV[4] == '1' then enter(KEYS[2], ARGV[3]) else leave(KEYS[2], ARGV[3]) end
      end
      return 1
      """)
}
