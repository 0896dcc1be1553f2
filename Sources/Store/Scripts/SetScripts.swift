import RedisClient

extension Fragment {
  /// Sets of one block: `change(bucket, own, name, add, remove)` with numbers of two bytes, ascending. The entry in the bucket
  /// holds up to 32 numbers itself, or says what the set's own key holds: `s` an ascending list of numbers, `b` a bitmap, as long
  /// as its highest number asks for in steps of 128 bytes. A bitmap comes where it is shorter than a list, and at 2,048 numbers;
  /// a set that shrinks changes back later than it changed when it grew, so that none changes to and fro.
  static let sets = """
    local RARE, RARE_AGAIN, LISTED, LISTED_AGAIN, STEP = 32, 16, 2048, 1024, \(SetBlock.bitmapStep)

    local function number(list, i)
      local high, low = string.byte(list, i, i + 1)
      return high * 256 + low
    end
    -- Where an ascending list has a number, or would have it.
    local function place(list, wanted)
      local low, high = 0, #list / 2
      while low < high do
        local middle = math.floor((low + high) / 2)
        if number(list, middle * 2 + 1) < wanted then low = middle + 1 else high = middle end
      end
      return low * 2 + 1
    end
    local function holds(list, wanted)
      local at = place(list, wanted)
      return at < #list and number(list, at) == wanted
    end
    local function merged(list, add)
      if list == '' then return add end
      if add == '' then return list end
      if number(list, #list - 1) < number(add, 1) then return list .. add end
      for i = 1, #add, 2 do
        local at = place(list, number(add, i))
        local item = string.sub(add, i, i + 1)
        if string.sub(list, at, at + 1) ~= item then
          list = string.sub(list, 1, at - 1) .. item .. string.sub(list, at)
        end
      end
      return list
    end

    local function bitmapLength(list)
      return math.floor(number(list, #list - 1) / (STEP * 8) + 1) * STEP
    end
    local function masks(list, first)
      local words = {}
      for i = 1, #list, 2 do
        local high, low = string.byte(list, i, i + 1)
        local n = high * 256 + low
        local rest = n % 32
        local w = (n - rest) / 32 - first
        words[w] = (words[w] or 0) + 2 ^ (31 - rest)
      end
      return words
    end
    local function toBitmap(list)
      local words, parts = masks(list, 0), {}
      local zero = string.rep('\\0', 4)
      for w = 0, bitmapLength(list) / 4 - 1 do parts[w + 1] = words[w] and struct.pack('>I4', words[w]) or zero end
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
      local apart = first == last or (high - low) * 2 > #list
      local size = (high - low) * 4 + 4
      local old = not apart and redis.call('GETRANGE', own, low * 4, high * 4 + 3)
      if apart and redis.call('STRLEN', own) < high * 4 + 4 or old and #old < size then
        -- Redis would give a string that grows twice its room.
        old = redis.call('GET', own)
        old = old .. string.rep('\\0', bitmapLength(list) - #old)
        redis.call('SET', own, old)
        old = string.sub(old, low * 4 + 1, high * 4 + 4)
      end
      if apart then
        for i = 1, #list, 2 do redis.call('SETBIT', own, number(list, i), value) end
        return
      end
      local masks, parts = masks(list, low), {}
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
      if count > LISTED or (count > RARE and form ~= 'b' and #list >= bitmapLength(list)) then
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
          local count = redis.call('BITCOUNT', own)
          if count < LISTED_AGAIN and count * 4 < redis.call('STRLEN', own) then
            store(bucket, own, name, form, toList(redis.call('GET', own)))
          end
        end
        return
      end
      local list = form == 's' and redis.call('GET', own) or form or ''
      for i = 1, #remove, 2 do
        local wanted = number(remove, i)
        if holds(list, wanted) then
          local at = place(list, wanted)
          list = string.sub(list, 1, at - 1) .. string.sub(list, at + 2)
        end
      end
      store(bucket, own, name, form, merged(list, add))
    end

    """
}

extension Scripts {
  /// What sets hold of a block. KEYS per set: bucket, own key · ARGV names → per set a list of numbers, or an array of a bitmap
  static let readSets = RedisScript(
    "readSets",
    """
    #!lua flags=no-writes
    local out = {}
    for i = 1, #KEYS, 2 do
      local held = redis.call('HGET', KEYS[i], ARGV[(i + 1) / 2])
      if held == 's' then held = redis.call('GET', KEYS[i + 1]) end
      if held == 'b' then held = {redis.call('GET', KEYS[i + 1])} end
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
