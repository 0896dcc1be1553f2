import RedisClient

/// Of `reindex`: each looks and repairs at one moment, and only if the record is still the one that was judged.
extension Scripts {
  /// KEYS record bucket, bucket of the set, its own key, intents · ARGV number, entry of the record or '', name, number within the
  /// block, whether it belongs in (1, 0), whether to repair, names of all intents → 1: it was wrong
  static let mendSet = RedisScript(
    "mendSet",
    "#!lua flags=allow-oom\n" + Fragment.records + Fragment.sets + """
      if entryOf(redis.call('GET', KEYS[1]) or '', tonumber(ARGV[1])) ~= ARGV[2] then return 0 end
      -- The number may be a newcomer's by now.
      if ARGV[2] == '' and table.concat(redis.call('HKEYS', KEYS[4])) ~= ARGV[7] then return 0 end
      local form = redis.call('HGET', KEYS[2], ARGV[3])
      local held = '0'
      if form == 'b' then
        if redis.call('GETBIT', KEYS[3], number(ARGV[4], 1)) == 1 then held = '1' end
      elseif holds(form == 's' and (redis.call('GET', KEYS[3]) or '') or form or '', number(ARGV[4], 1)) then
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

  /// KEYS record bucket, index bucket · ARGV number, entry of the record or '', hash and number, whether it belongs in, whether to repair
  /// → 1: it was wrong
  static let mendIndex = RedisScript(
    "mendIndex",
    "#!lua flags=allow-oom\n" + Fragment.records + Fragment.index + """
      if entryOf(redis.call('GET', KEYS[1]) or '', tonumber(ARGV[1])) ~= ARGV[2] then return 0 end
      local held = redis.call('GET', KEYS[2]) or ''
      local left = without(held, ARGV[3])
      if (left ~= held) == (ARGV[4] == '1') then return 0 end
      if ARGV[5] == '1' then
        if ARGV[4] == '1' then left = held .. ARGV[3] end
        if left == '' then redis.call('DEL', KEYS[2]) else redis.call('SET', KEYS[2], left) end
      end
      return 1
      """)
}
