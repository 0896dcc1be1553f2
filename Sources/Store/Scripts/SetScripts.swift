import RedisClient

extension Fragment {
  /// Sets of one block: `change(bucket, own, name, add, remove)` with numbers of two bytes, ascending. The entry in the bucket
  /// holds up to 32 numbers itself, or says what the set's own key holds: `s` a list of numbers, `b` a bitmap. A set that
  /// shrinks changes back later than it changed when it grew, so that none changes to and fro.
  static let sets = """
    local RARE, RARE_AGAIN, LISTED, LISTED_AGAIN = 32, 16, 2048, 1024

    local function place(list, item)
      local at = 1
      while true do
        local found = string.find(list, item, at, true)
        if not found then return nil end
        if found % 2 == 1 then return found end
        at = found + 1
      end
    end
    local function number(list, i)
      local high, low = string.byte(list, i, i + 1)
      return high * 256 + low
    end

    local function toBitmap(list)
      local words, parts = {}, {}
      for i = 1, #list, 2 do
        local n = number(list, i)
        local rest = n % 32
        local w = (n - rest) / 32
        words[w] = (words[w] or 0) + 2 ^ (31 - rest)
      end
      local zero = string.rep('\\0', 4)
      for w = 0, 2047 do parts[w + 1] = words[w] and struct.pack('>I4', words[w]) or zero end
      return table.concat(parts)
    end
    local function toList(bitmap)
      local out, at = {}, 1
      while true do
        at = string.find(bitmap, '[^%z]', at)
        if not at then return table.concat(out) end
        local byte = string.byte(bitmap, at)
        for i = 0, 7 do
          local bit = 2 ^ (7 - i)
          if byte >= bit then
            byte = byte - bit
            local n = at * 8 - 8 + i
            local low = n % 256
            out[#out + 1] = string.char((n - low) / 256, low)
          end
        end
        at = at + 1
      end
    end

    local function setBits(own, list, value)
      local first, last = number(list, 1), number(list, #list - 1)
      local low, high = (first - first % 32) / 32, (last - last % 32) / 32
      -- Far apart, each costs a call; close together they are changed in a piece.
      if #list < 16 or (high - low) * 2 > #list then
        for i = 1, #list, 2 do redis.call('SETBIT', own, number(list, i), value) end
        return
      end
      local masks = {}
      for i = 1, #list, 2 do
        local n = number(list, i)
        local rest = n % 32
        local w = (n - rest) / 32 - low
        masks[w] = (masks[w] or 0) + 2 ^ (31 - rest)
      end
      local old, parts = redis.call('GETRANGE', own, low * 4, high * 4 + 3), {}
      for w = 0, high - low do
        local word = struct.unpack('>I4', old, w * 4 + 1)
        local mask = masks[w]
        if mask then
          if value == 1 then word = bit.bor(word, mask) else word = bit.band(word, bit.bnot(mask)) end
        end
        parts[w + 1] = struct.pack('>I4', word % 4294967296)
      end
      redis.call('SETRANGE', own, low * 4, table.concat(parts))
    end

    local function store(bucket, own, name, form, list)
      local count = #list / 2
      local apart = form == 's' or form == 'b'
      if count > LISTED then
        redis.call('SET', own, toBitmap(list))
        if form ~= 'b' then redis.call('HSET', bucket, name, 'b') end
      elseif count > RARE or (apart and count >= RARE_AGAIN) then
        redis.call('SET', own, list)
        if form ~= 's' then redis.call('HSET', bucket, name, 's') end
      else
        if apart then redis.call('DEL', own) end
        if count == 0 then redis.call('HDEL', bucket, name) else redis.call('HSET', bucket, name, list) end
      end
    end

    local function change(bucket, own, name, add, remove)
      local form = redis.call('HGET', bucket, name)
      if form == 'b' then
        if #add > 0 then setBits(own, add, 1) end
        if #remove > 0 then
          setBits(own, remove, 0)
          if redis.call('BITCOUNT', own) < LISTED_AGAIN then
            store(bucket, own, name, form, toList(redis.call('GET', own)))
          end
        end
        return
      end
      local list = form == 's' and redis.call('GET', own) or form or ''
      for i = 1, #remove, 2 do
        local found = place(list, string.sub(remove, i, i + 1))
        if found then list = string.sub(list, 1, found - 1) .. string.sub(list, found + 2) end
      end
      if list == '' then
        list = add
      elseif #add > 0 then
        local parts = {list}
        for i = 1, #add, 2 do
          local item = string.sub(add, i, i + 1)
          if not place(list, item) then parts[#parts + 1] = item end
        end
        list = table.concat(parts)
      end
      store(bucket, own, name, form, list)
    end

    """
}

extension Scripts {
  /// What sets hold of a block. KEYS per set: bucket, own key · ARGV names → per set a bitmap or a list of numbers
  static let readSets = RedisScript(
    "readSets",
    """
    #!lua flags=no-writes
    local out = {}
    for i = 1, #KEYS, 2 do
      local held = redis.call('HGET', KEYS[i], ARGV[(i + 1) / 2])
      if held == 's' or held == 'b' then held = redis.call('GET', KEYS[i + 1]) end
      out[#out + 1] = held or ''
    end
    return out
    """)

  /// Names of sets that begin with ARGV[1]. KEYS buckets
  static let scanNames = RedisScript(
    "scanNames",
    """
    #!lua flags=no-writes
    local out, length = {}, #ARGV[1]
    for i = 1, #KEYS do
      for _, name in ipairs(redis.call('HKEYS', KEYS[i])) do
        if string.sub(name, 1, length) == ARGV[1] then out[#out + 1] = name end
      end
    end
    return out
    """)
}
